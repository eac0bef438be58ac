-- drop_leases: takes jobs out of the running ones
--   Guard   the caller holds the lease rows and puts the jobs into their next place.
--   Locks   none further.
--   Returns nothing.
--   Notifies nothing.
--   Tested by  test/sql/places/places.test.ts
create or replace function holdfast.drop_leases(p_job_ids bigint[])
  returns void
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
  set enable_seqscan = off  -- a scan would read the dead rows of a busy table
as $$
begin
  delete from holdfast.lease as l where l.job_id = any (p_job_ids);
end
$$;
