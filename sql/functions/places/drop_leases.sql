-- drop_leases: takes jobs out of the running ones
--   Guard   the caller puts the jobs into their next place, and holds the lease rows. One that has read them without a lock gives
--           the lease ids of what it has read: a lease of a later claim stays.
--   Locks   the lease rows.
--   Returns how many.
--   Notifies nothing.
--   Tested by  test/sql/places/places.test.ts
create or replace function holdfast.drop_leases(p_job_ids bigint[], p_lease_ids uuid[] default null)
  returns integer
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
  set enable_seqscan = off  -- a scan would read the dead rows of a busy table
as $$
declare
  v_dropped integer;
begin
  delete from holdfast.lease as l
   where l.job_id = any (p_job_ids)
     and (p_lease_ids is null or l.lease_id = any (p_lease_ids));
  get diagnostics v_dropped = row_count;
  return v_dropped;
end
$$;
