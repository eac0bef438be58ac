-- state_of: the state of a job, which is the place it is in
--   Guard   none.
--   Locks   none.
--   Returns pending, waiting, running, completed, failed, cancelled, superseded; null when there is no such job.
--   Notifies nothing.
--   Tested by  test/sql/shared/matrix.test.ts
create or replace function holdfast.state_of(p_job_id bigint)
  returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (select 'pending' from holdfast.ready as r where r.job_id = p_job_id),
    (select 'waiting' from holdfast.waiting as w where w.job_id = p_job_id),
    (select 'running' from holdfast.lease as l where l.job_id = p_job_id),
    (select o.state from holdfast.outcome as o where o.job_id = p_job_id)
  )
$$;
