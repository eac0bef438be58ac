-- is_name: whether a text can name a type of job or a queue
--   Guard   none.
--   Locks   none.
--   Returns true or false; null for no text.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_jobs.test.ts
-- Without settings of its own, so that the planner puts its body where it is called.
create or replace function holdfast.is_name(p_text text)
  returns boolean
  language sql immutable parallel safe
as $$
  select length(p_text) between 1 and 100 and p_text !~ '[[:cntrl:]]'
$$;
