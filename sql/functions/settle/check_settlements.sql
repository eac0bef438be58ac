-- check_settlements: refuses a batch that is no array of objects
--   Guard   none.
--   Locks   none.
--   Returns nothing; raises INVALID_OPTION. A member without its lease is not refused here: it is a lost lease.
--   Notifies nothing.
--   Tested by  test/sql/settle/complete_jobs.test.ts
create or replace function holdfast.check_settlements(p_settlements jsonb)
  returns void
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_settlements) is distinct from 'array'
    or jsonb_path_exists(p_settlements, 'strict $[*] ? (@.type() != "object")')
  then
    perform holdfast.refuse('INVALID_OPTION', 'give a JSON array of objects with job_id, token and lease_id',
      jsonb_build_object('received', left(p_settlements::text, 100)));
  end if;
end
$$;
