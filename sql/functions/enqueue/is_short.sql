-- is_short: whether a JSON value is too short to be large, deep or beyond the range of numbers
--   Guard   none.
--   Locks   none.
--   Returns true or false, never null for a value; where false, input_problem decides.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/input_problem.test.ts
-- What is long as stored may be far longer as text and is not printed here. Without settings of its own, and no more
-- immutable than pg_column_size, so that the planner puts its body where it is called.
create or replace function holdfast.is_short(p_value jsonb)
  returns boolean
  language sql stable parallel safe
as $$
  select pg_column_size(p_value) <= 1000 and octet_length(p_value::text) <= 128
$$;
