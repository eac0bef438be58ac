-- end_leases: running → completed | failed | cancelled | superseded
--   Guard   the caller holds the lease rows and their key rows.
--   Locks   for linked jobs as unblock_successors, else nothing more.
--   Returns the jobs of pipelines that became pending; the keys are free and their next jobs un-parked.
--   Notifies sleeping workers of un-parked jobs; of jobs of pipelines by p_wake.
--   Tested by  test/sql/settle/complete_jobs.test.ts
-- p_outputs and p_errors stand beside p_job_ids, or are null for none.
create or replace function holdfast.end_leases(
  p_job_ids bigint[],
  p_state text,
  p_outputs jsonb[],
  p_errors jsonb[],
  p_wake text default 'sleepers'
)
  returns bigint[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_nestloop = off
as $$
declare
  v_keys text[];
  v_linked bigint[];
begin
  with ended as (
    delete from holdfast.lease as l
     where l.job_id = any (p_job_ids)
    returning l.job_id, l.attempts, l.token, l.lease_id, l.locked_by, l.locked_at, l.run_at, l.key, l.linked
  ),
  kept as (
    insert into holdfast.outcome
      (job_id, state, attempts, token, lease_id, locked_by, locked_at, run_at, finished_at, output, error)
    select e.job_id, p_state, e.attempts, e.token, e.lease_id, e.locked_by, e.locked_at, e.run_at, holdfast.now(), w.output,
           w.error
      from ended as e
      join unnest(p_job_ids, p_outputs, p_errors) as w(job_id, output, error) on w.job_id = e.job_id
  )
  select array_agg(e.key) filter (where e.key is not null), array_agg(e.job_id) filter (where e.linked)
    into v_keys, v_linked
    from ended as e;

  if v_keys is not null then
    perform holdfast.free_keys(v_keys, p_job_ids);
  end if;
  return case when v_linked is null then '{}' else holdfast.unblock_successors(v_linked, p_state, p_wake) end;
end
$$;
