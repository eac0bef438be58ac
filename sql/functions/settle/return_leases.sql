-- return_leases: running → pending
--   Guard   the caller holds the lease rows and their key rows.
--   Locks   nothing more.
--   Returns nothing; the keys are free and their next jobs un-parked.
--   Notifies workers that would sleep past a job's new run_at.
--   Tested by  test/sql/settle/fail_jobs.test.ts
-- p_run_ats stands beside p_job_ids; null keeps the job's old place. p_attempts_back: 1 gives the attempt back, null gives
-- all of them. p_crashes: 1 marks a job whose worker died.
create or replace function holdfast.return_leases(
  p_job_ids bigint[],
  p_run_ats timestamptz[],
  p_attempts_back integer,
  p_crashes integer default 0
)
  returns void
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_nestloop = off
as $$
declare
  v_keys text[];
  v_queues text[];
  v_first_run_at timestamptz;
begin
  with ended as (
    delete from holdfast.lease as l
     where l.job_id = any (p_job_ids)
    returning l.job_id, l.type, l.queue, l.priority, l.run_at, l.attempts, l.max_attempts, l.token, l.key, l.key_policy,
              l.rank, l.crashes, l.linked
  ),
  returned as (
    insert into holdfast.ready
      (job_id, type, queue, priority, run_at, attempts, max_attempts, token, key, key_policy, rank, crashes, linked)
    select e.job_id, e.type, e.queue, e.priority, coalesce(w.run_at, e.run_at), coalesce(e.attempts - p_attempts_back, 0),
           e.max_attempts, e.token, e.key, e.key_policy, e.rank, e.crashes + p_crashes, e.linked
      from ended as e
      join unnest(p_job_ids, p_run_ats) as w(job_id, run_at) on w.job_id = e.job_id
    returning ready.queue, ready.run_at, ready.key
  )
  select array_agg(r.key) filter (where r.key is not null), array_agg(distinct r.queue), min(r.run_at)
    into v_keys, v_queues, v_first_run_at
    from returned as r;

  if v_keys is not null then
    perform holdfast.free_keys(v_keys, p_job_ids);
  end if;
  if v_queues is not null then
    perform holdfast.wake_workers(v_queues, v_first_run_at, 'sleepers');
  end if;
end
$$;
