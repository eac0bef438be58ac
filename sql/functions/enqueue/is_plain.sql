-- is_plain: whether the options of an enqueue are the few that nearly all have, each as it must be
--   Guard   none.
--   Locks   none.
--   Returns true or false, never null; what is false needs the look of check_common.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_inputs.test.ts
-- One expression, because each that a call evaluates is made ready for that call alone. Without settings of its own, so that
-- the planner puts its body where it is called.
create or replace function holdfast.is_plain(p_common jsonb)
  returns boolean
  language sql immutable parallel safe
as $$
  select case jsonb_typeof(p_common)
    when 'object' then p_common - '{type,queue,priority,max_attempts}'::text[] = '{}'
      and holdfast.is_type(p_common -> 'type')
      and holdfast.is_type(p_common -> 'queue')  -- queues are named by the same rule
      and coalesce(p_common ->> 'priority', '') ~ '^[0-9]$'
      and coalesce(p_common ->> 'max_attempts', '') ~ '^([1-9][0-9]{0,2}|1000)$'
    else false
  end
$$;
