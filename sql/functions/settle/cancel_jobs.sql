-- cancel_jobs: running → cancelled, by the handler's own decision
--   Guard   as settle_jobs.
--   Locks   as settle_jobs.
--   Returns one row per member: settled true, or false with code LEASE_LOST.
--   Notifies sleeping workers of jobs that waited for a freed key.
-- Members: job_id, token, lease_id and reason.
create or replace function holdfast.cancel_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.settle_as(settlements, 'cancel')
$$;
