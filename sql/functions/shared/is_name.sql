-- is_name: whether a text can name a type of job or a queue; is_type: whether a JSON value can name a type of job
--   Guard   none.
--   Locks   none.
--   Returns true or false; is_name null for no text.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_jobs.test.ts
-- Without settings of their own, so that the planner puts their bodies where they are called.
create or replace function holdfast.is_name(p_text text) returns boolean
  language sql immutable parallel safe
as $$ select length(p_text) between 1 and 100 and p_text !~ '[[:cntrl:]]' $$;

create or replace function holdfast.is_type(p_value jsonb) returns boolean
  language sql immutable parallel safe
as $$ select coalesce(jsonb_typeof(p_value) = 'string' and holdfast.is_name(p_value #>> '{}'), false) $$;
