-- end_leases: running → completed | failed | cancelled | superseded
--   Guard   the caller has locked the lease rows and their key rows.
--   Locks   for linked jobs as unblock_successors, else nothing more.
--   Returns the jobs of pipelines that became pending; the keys are free and their next jobs un-parked.
--   Notifies sleeping workers of un-parked jobs; of jobs of pipelines by p_wake.
--   Tested by  test/sql/settle/complete_jobs.test.ts
-- p_states has one element per job, and so have p_outputs and p_errors unless they are null.
create or replace function holdfast.end_leases(
  p_job_ids bigint[], p_states text[], p_outputs jsonb[], p_errors jsonb[], p_wake text default 'sleepers'
)
  returns bigint[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_outcomes holdfast.outcome[];
  v_keys text[];
  v_linked bigint[];
  v_linked_states text[];
begin
  select array_agg(holdfast.outcome_row(l, w.state, v_now, w.output, w.error)),
         array_agg(l.key) filter (where l.key is not null), array_agg(l.job_id) filter (where l.linked),
         array_agg(w.state) filter (where l.linked)
    into v_outcomes, v_keys, v_linked, v_linked_states
    from unnest(p_job_ids, p_states, p_outputs, p_errors) as w(job_id, state, output, error)
   cross join lateral (select * from holdfast.lease as b where b.job_id = w.job_id limit 1) as l;
  perform holdfast.drop_leases(p_job_ids);
  perform holdfast.place_outcomes(v_outcomes);

  if v_keys is not null then
    perform holdfast.free_keys(v_keys, p_job_ids);
  end if;
  return case when v_linked is null then '{}' else holdfast.unblock_successors(v_linked, v_linked_states, p_wake) end;
end
$$;
