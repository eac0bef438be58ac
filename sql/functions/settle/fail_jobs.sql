-- fail_jobs: running → pending | failed
--   Guard   as settle_jobs.
--   Locks   as settle_jobs.
--   Returns one row per member: settled true, or false with code LEASE_LOST; repeating a failure that this very lease has
--           reported is true again. Attempts left: pending after delay_ms, else after the type's backoff. None left, or
--           permanent: failed. Each makes a row in attempt.
--   Notifies workers that would sleep past the next attempt.
-- Members: job_id, token, lease_id, error, and optionally delay_ms and permanent.
create or replace function holdfast.fail_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.settle_as(settlements, 'fail')
$$;
