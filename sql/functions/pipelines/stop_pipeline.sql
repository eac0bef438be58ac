-- stop_pipeline: waiting | pending → cancelled for what a pipeline has not started yet
--   Guard   the caller holds the pipeline's row and its waiting rows (lock_successors).
--   Locks   pending jobs and free keys, skip locked: one that is just being claimed may run to its end.
--   Returns nothing; the first of p_job_ids that did not complete is written down as the reason.
--   Notifies sleeping workers of jobs that waited for a freed key.
--   Tested by  test/sql/pipelines/unblock_successors.test.ts
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
    format('step %s (job %s) %s', v_by.name, v_by.id, case v_by.state when 'failed' then v_by.state else 'was ' || v_by.state end)));
  update holdfast.pipeline as p
     set stopped_by = v_by.id, stopped_at = holdfast.now()
   where p.id = p_pipeline
     and p.stopped_at is null;
end
$$;
