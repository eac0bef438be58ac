-- cancel_unstarted: waiting | pending → cancelled for the jobs of a pipeline
--   Guard   the caller holds the pipeline's waiting rows.
--   Locks   pending jobs and free keys, skip locked.
--   Returns how many.
--   Notifies sleeping workers of jobs that waited for a freed key.
--   Tested by  test/sql/pipelines/cancel_pipeline.test.ts
create or replace function holdfast.cancel_unstarted(p_pipeline uuid, p_error jsonb)
  returns integer
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_waited integer;
  v_pending integer;
  v_keys text[];
begin
  with gone as (
    delete from holdfast.waiting as w where w.pipeline_id = p_pipeline returning w.job_id, w.token
  )
  insert into holdfast.outcome (job_id, state, token, run_at, attempts, finished_at, error)
  select g.job_id, 'cancelled', g.token, v_now, 0, v_now, p_error from gone as g;
  get diagnostics v_waited = row_count;

  with gone as (
    delete from holdfast.ready as r
     where r.job_id = any (array(
       select o.job_id
         from holdfast.ready as o
        where o.job_id = any (array(select j.id from holdfast.job as j where j.pipeline_id = p_pipeline))
          for update skip locked
     ))
    returning r.job_id, r.token, r.run_at, r.attempts, r.key
  ),
  kept as (
    insert into holdfast.outcome (job_id, state, token, run_at, attempts, finished_at, error)
    select g.job_id, 'cancelled', g.token, g.run_at, g.attempts, v_now, p_error from gone as g
  )
  select count(*), array_agg(distinct g.key) filter (where g.key is not null) into v_pending, v_keys from gone as g;

  -- One of them may have been the one that its key's parked jobs wait behind. A key that is locked now is seen to by the sweep.
  if v_keys is not null then
    v_keys := array(
      select k.key from holdfast.job_key as k where k.key = any (v_keys) and k.holder is null order by k.key
         for update skip locked
    );
    perform holdfast.free_keys(v_keys, '{}');
  end if;
  return v_waited + v_pending;
end
$$;
