-- suspend_jobs: running → pending until what its handler waits for has come, the attempt given back
--   Guard   as settle_jobs.
--   Locks   as settle_jobs.
--   Returns one row per member: settled true, or false with code LEASE_LOST. The job is due when the first of its waits is
--           over, and at once if its event is there.
--   Notifies workers that would sleep past the new run_at.
-- Members: job_id, token, lease_id and waits: [{kind: sleep | event, name, delay_ms, event}]. A wait that is known keeps its
-- first end. delay_ms of an event is its timeout.
create or replace function holdfast.suspend_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.settle_as(settlements, 'suspend')
$$;
