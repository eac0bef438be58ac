-- release_jobs: running → pending at its old place, the attempt given back
--   Guard   as settle_jobs.
--   Locks   as settle_jobs.
--   Returns one row per member: settled true, or false with code LEASE_LOST.
--   Notifies sleeping workers: the job can be claimed at once.
-- Members: job_id, token and lease_id.
create or replace function holdfast.release_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.settle_as(settlements, 'release')
$$;
