-- small_error: an error, shortened to what may be stored
--   Guard   none.
--   Locks   none.
--   Returns the error as an object of at most 64 KB; a larger one keeps its name, code and the start of its message.
--   Notifies nothing.
--   Tested by  test/sql/settle/fail_jobs.test.ts
create or replace function holdfast.small_error(p_error jsonb)
  returns jsonb
  language sql immutable parallel safe
  set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_error is null or p_error = 'null' then '{"name": "Error", "message": "no error was given"}'
    when jsonb_typeof(p_error) = 'object' and octet_length(p_error::text) <= 65536 then p_error
    when jsonb_typeof(p_error) = 'object' then jsonb_strip_nulls(jsonb_build_object(
      'name', left(p_error ->> 'name', 200), 'code', left(p_error ->> 'code', 200),
      'message', left(coalesce(p_error ->> 'message', p_error::text), 8000), 'truncated', true))
    else jsonb_build_object('name', 'Error', 'message', left(p_error #>> '{}', 8000))
  end
$$;
