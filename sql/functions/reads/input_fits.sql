-- input_fits: whether an input has the values that a filter asks for
--   Guard   none.
--   Locks   none.
--   Returns true when what stands at each path, printed as text, is exactly the value.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
create or replace function holdfast.input_fits(p_input jsonb, p_conditions jsonb)
  returns boolean
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $$
  select not exists (
    select
      from jsonb_to_recordset(p_conditions) as c(path text[], value text)
     where p_input #>> c.path is distinct from c.value
  )
$$;
