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
  v_waiting constant holdfast.waiting[] := array(select w from holdfast.waiting as w where w.pipeline_id = p_pipeline);
  v_pending holdfast.ready[];
  v_keys text[];
begin
  v_pending := array(
    select r
      from holdfast.ready as r
     where r.job_id = any (array(select j.id from holdfast.job as j where j.pipeline_id = p_pipeline))
       for update skip locked
  );
  perform holdfast.drop_waiting(array(select w.job_id from unnest(v_waiting) as w));
  perform holdfast.drop_ready(array(select r.job_id from unnest(v_pending) as r));
  perform holdfast.place_outcomes(
    array(select holdfast.outcome_row(w, 'cancelled', v_now, p_error) from unnest(v_waiting) as w)
    || array(select holdfast.outcome_row(r, 'cancelled', v_now, p_error) from unnest(v_pending) as r));

  -- One of them may have been the one that its key's parked jobs wait behind. A key that is locked now is seen to by the sweep.
  v_keys := array(select distinct r.key from unnest(v_pending) as r where r.key is not null);
  if v_keys <> '{}' then
    v_keys := array(
      select k.key from holdfast.job_key as k where k.key = any (v_keys) and k.holder is null order by k.key
         for update skip locked
    );
    perform holdfast.free_keys(v_keys, '{}');
  end if;
  return cardinality(v_waiting) + cardinality(v_pending);
end
$$;
