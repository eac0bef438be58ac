-- is_type: whether a JSON value can name a type of job
--   Guard   none.
--   Locks   none.
--   Returns true or false, never null.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_jobs.test.ts
-- Without settings of its own, so that the planner puts its body where it is called.
create or replace function holdfast.is_type(p_value jsonb)
  returns boolean
  language sql immutable parallel safe
as $$
  select coalesce(jsonb_typeof(p_value) = 'string' and holdfast.is_name(p_value #>> '{}'), false)
$$;
