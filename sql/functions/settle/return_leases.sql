-- return_leases: running → pending
--   Guard   the caller has locked the lease rows and their key rows.
--   Locks   nothing more.
--   Returns nothing; the keys are free and their next jobs un-parked.
--   Notifies workers that would sleep past a job's new run_at.
--   Tested by  test/sql/settle/fail_jobs.test.ts
-- p_run_ats has one element per job or is null; null keeps the job's old place. p_attempts_back: 1 gives the attempt back, null
-- gives all of them back. p_crashes: 1 for a job whose worker died.
create or replace function holdfast.return_leases(
  p_job_ids bigint[], p_run_ats timestamptz[], p_attempts_back integer, p_crashes integer default 0
)
  returns void
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_ready holdfast.ready[];
  v_keys text[];
  v_queues text[];
  v_first_run_at timestamptz;
begin
  select array_agg(holdfast.ready_row(l.job_id, l.type, l.queue, l.priority, coalesce(w.run_at, l.run_at), l.max_attempts,
                                      l.token, l.key, l.key_policy, l.rank, l.linked,
                                      coalesce(l.attempts - p_attempts_back, 0)::smallint, (l.crashes + p_crashes)::smallint)),
         array_agg(l.key) filter (where l.key is not null), array_agg(distinct l.queue), min(coalesce(w.run_at, l.run_at))
    into v_ready, v_keys, v_queues, v_first_run_at
    from unnest(p_job_ids, p_run_ats) as w(job_id, run_at)
   cross join lateral (select * from holdfast.lease as b where b.job_id = w.job_id limit 1) as l;
  perform holdfast.drop_leases(p_job_ids);
  perform holdfast.place_ready(v_ready);

  if v_keys is not null then
    perform holdfast.free_keys(v_keys, p_job_ids);
  end if;
  if v_queues is not null then
    perform holdfast.wake_workers(v_queues, v_first_run_at, 'sleepers');
  end if;
end
$$;
