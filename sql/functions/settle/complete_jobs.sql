-- complete_jobs: running → completed
--   Guard   as settle_jobs.
--   Locks   as settle_jobs.
--   Returns one row per member: settled true, or false with code LEASE_LOST. Repeating a completion that this very lease has
--           made is true again, for a client that lost the answer.
--   Notifies sleeping workers of jobs that waited for a freed key or came after one of these in a pipeline.
-- Members: job_id, token, lease_id and output.
create or replace function holdfast.complete_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.settle_as(settlements, 'complete')
$$;
