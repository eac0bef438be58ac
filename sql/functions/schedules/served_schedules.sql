-- served_schedules: the schedules that this worker can serve, with the moment from which each needs one
--   Guard   an input that code computes needs the worker that has the definition (p_known).
--   Locks   none.
--   Returns every enabled schedule that will tick; one that nobody has planned needs a worker at once.
--   Notifies nothing.
--   Tested by  test/sql/schedules/due_schedules.test.ts
create or replace function holdfast.served_schedules(p_known text[])
  returns table (schedule holdfast.schedule, due_at timestamptz)
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  -- A fault holds the schedule back until its lock is over, planned or not.
  select s,
         greatest(coalesce(s.next_tick, s.counts_from),
                  case when s.next_tick is not null or s.fault is not null then s.locked_until end)
    from holdfast.schedule as s
   where s.enabled
     and (not s.input_from_code or s.job_key = any (p_known))
     and s.next_tick is distinct from 'infinity'
$$;
