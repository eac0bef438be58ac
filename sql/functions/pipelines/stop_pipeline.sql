-- stop_pipeline: waiting | pending → cancelled for the jobs of a pipeline that have not started
--   Guard   the caller has locked the pipeline's row and its waiting rows (lock_successors).
--   Locks   pending jobs and free keys, skip locked: a job that a worker claims at this moment may run to its end.
--   Returns nothing; the pipeline's stopped_by is the first of p_job_ids that did not complete.
--   Notifies sleeping workers of jobs that waited for a freed key.
--   Tested by  test/sql/pipelines/unblock_successors.test.ts
-- cancel_unstarted is the part of it that cancel_pipeline needs too. It returns how many jobs it cancelled.
create or replace function holdfast.stop_pipeline(p_pipeline uuid, p_job_ids bigint[], p_states text[])
  returns void
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_by record;
begin
  select j.id, coalesce((select s.name from holdfast.pipeline_step as s where s.job_id = j.id), j.type) as name, w.state
    into v_by
    from holdfast.job as j
   cross join lateral (select p_states[array_position(p_job_ids, j.id)] as state) as w
   where j.id = any (p_job_ids)
     and j.pipeline_id = p_pipeline
     and w.state <> 'completed'
   order by j.id
   limit 1;
  perform holdfast.cancel_unstarted(p_pipeline, jsonb_build_object('name', 'PipelineStopped', 'message',
    format('step %s (job %s) %s', v_by.name, v_by.id,
      case when v_by.state = 'failed' then 'failed' else 'was ' || v_by.state end)));
  update holdfast.pipeline as p
     set stopped_by = v_by.id, stopped_at = holdfast.now()
   where p.id = p_pipeline
     and p.stopped_at is null;
end
$$;

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

  -- Parked jobs of a key may have waited behind one of these. The sweep un-parks those of a key that is locked now.
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
