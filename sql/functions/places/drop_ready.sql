-- drop_ready: takes jobs out of the pending ones
--   Guard   the caller holds the ready rows and puts the jobs into their next place.
--   Locks   none further.
--   Returns nothing.
--   Notifies nothing.
--   Tested by  test/sql/places/places.test.ts
create or replace function holdfast.drop_ready(p_job_ids bigint[])
  returns void
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
  set enable_seqscan = off  -- a scan would read the dead rows of a busy table
as $$
begin
  delete from holdfast.ready as r where r.job_id = any (p_job_ids);
end
$$;
