-- snooze_jobs: running → pending, later, the attempt given back
--   Guard   as settle_jobs.
--   Locks   as settle_jobs.
--   Returns one row per member: settled true, or false with code LEASE_LOST.
--   Notifies workers that would sleep past the new run_at.
-- Members: job_id, token, lease_id and delay_ms.
create or replace function holdfast.snooze_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.settle_as(settlements, 'snooze')
$$;
