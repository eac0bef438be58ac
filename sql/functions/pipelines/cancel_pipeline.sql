-- cancel_pipeline: pending | waiting | running → cancelled for every job of a pipeline
--   Guard   none: it needs no leases.
--   Locks   key rows in order, then lease rows by id, then the pipeline's waiting rows by id and its row; waits for short
--           transitions of these jobs. Pending jobs skip locked.
--   Returns how many jobs were cancelled; lives is true when a worker claimed a job at this moment, which needs a second call.
--           Raises PIPELINE_NOT_FOUND. A pipeline with on_failure compensate starts its compensations.
--   Notifies workers of compensations. A worker of a running job learns it at its next renewal.
create or replace function holdfast.cancel_pipeline_v1(
  p_pipeline uuid, p_reason text default null, p_actor text default null,
  out cancelled integer, out lives boolean
)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant jsonb := jsonb_build_object('name', 'Cancelled',
    'message', left(coalesce(p_reason, 'its pipeline was cancelled'), 1000));
  v_ids constant bigint[] := array(select j.id from holdfast.job as j where j.pipeline_id = p_pipeline);
  v_keys text[];
  v_running bigint[];
  v_first bigint[];
begin
  if v_ids = '{}' then
    perform holdfast.refuse('PIPELINE_NOT_FOUND', format('there is no pipeline %s', p_pipeline),
      jsonb_build_object('pipeline_id', p_pipeline));
  end if;
  v_keys := array(
    select k.key
      from holdfast.job_key as k
     where k.key = any (array(select l.key from holdfast.lease as l where l.job_id = any (v_ids) and l.key is not null))
     order by k.key
       for update
  );
  v_running := array(
    select l.job_id
      from holdfast.lease as l
     where l.job_id = any (v_ids)
       and (l.key is null or l.key = any (v_keys))
     order by l.job_id
       for update
  );
  perform from holdfast.waiting as w where w.pipeline_id = p_pipeline order by w.job_id for update;
  perform from holdfast.pipeline as p where p.id = p_pipeline for update;

  cancelled := holdfast.cancel_unstarted(p_pipeline, v_error) + cardinality(v_running);
  perform holdfast.end_leases(v_running, array_fill('cancelled'::text, array[cardinality(v_running)]), null,
    array_fill(v_error, array[cardinality(v_running)]), 'always');
  update holdfast.pipeline as p
     set stopped_by = o.job_id, stopped_at = holdfast.now()
    from (
      select o.job_id from holdfast.outcome as o where o.job_id = any (v_ids) and o.state = 'cancelled' order by o.job_id limit 1
    ) as o
   where p.id = p_pipeline
     and p.stopped_at is null;
  if exists (select from holdfast.pipeline as p where p.id = p_pipeline and p.on_failure = 'compensate') then
    v_first := holdfast.compensate_pipeline(p_pipeline);
    perform holdfast.wake_workers(
      array(select r.queue from holdfast.ready as r where r.job_id = any (v_first)), holdfast.now(), 'always');
  end if;
  lives := holdfast.pipeline_lives(p_pipeline)
    and not exists (select from holdfast.pipeline as p where p.id = p_pipeline and p.compensated_at is not null);
  perform holdfast.audit_operation(p_actor, 'cancel_pipeline', null,
    jsonb_build_object('pipeline_id', p_pipeline, 'cancelled', cancelled, 'reason', p_reason));
end
$$;

create or replace function holdfast.cancel_pipeline(
  pipeline uuid, reason text default null, actor text default null,
  out cancelled integer, out lives boolean
)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select c.cancelled, c.lives from holdfast.cancel_pipeline_v1(pipeline, reason, actor) as c $$;
