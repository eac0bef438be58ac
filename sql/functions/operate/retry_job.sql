-- retry_job: completed | failed | cancelled | superseded → pending, with fresh attempts
--   Guard   the job is in a final state.
--   Locks   the job row, what waits for it in its pipeline and the pipeline's row, then its outcome.
--   Returns the state it was in; raises JOB_NOT_FOUND, or WRONG_STATE while it is alive.
--   Notifies workers, when the caller's transaction commits.
-- The token goes on from where it was, so nothing that an earlier attempt still sends is accepted. A keyed job counts as
-- the newest of its key from now on. A job that was not completed goes on from the steps that it remembers, but waits anew.
-- What waits in its pipeline waits for it again; what was cancelled there is opened by retry_pipeline only.
create or replace function holdfast.retry_job_v1(p_job_id bigint, p_actor text default null) returns text
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_job holdfast.job;
  v_state text;
  v_token bigint;
  v_linked boolean;
begin
  select j.* into v_job from holdfast.job as j where j.id = p_job_id for update;
  if not found then
    perform holdfast.refuse('JOB_NOT_FOUND', format('there is no job %s', p_job_id), jsonb_build_object('job_id', p_job_id));
  end if;

  perform
     from holdfast.waiting as w
    where w.job_id = any (array(select d.job_id from holdfast.dependency as d where d.depends_on = p_job_id))
    order by w.job_id
      for update;
  perform from holdfast.pipeline as p where p.id = v_job.pipeline_id for update;
  v_linked := found;

  delete from holdfast.outcome as o where o.job_id = p_job_id returning o.state, o.token into v_state, v_token;
  if not found then
    perform holdfast.refuse('WRONG_STATE', format('job %s is %s; only a finished job can be retried', p_job_id,
      coalesce(holdfast.state_of(p_job_id), 'in motion')),
      jsonb_build_object('job_id', p_job_id, 'state', holdfast.state_of(p_job_id)));
  end if;

  delete from holdfast.durable_step as s
   where s.job_id = p_job_id
     and (v_state = 'completed' or s.kind = 'event' and s.output is null);
  update holdfast.waiting as w
     set open = w.open + 1
   where w.job_id = any (array(select d.job_id from holdfast.dependency as d where d.depends_on = p_job_id));
  perform holdfast.place_ready(array[holdfast.ready_row(
    p_job_id, v_job.type, v_job.queue, v_job.priority, holdfast.now(), v_job.max_attempts, v_token, v_job.key,
    v_job.key_policy, case when v_job.key is not null then nextval('holdfast.job_id_seq') end, v_linked)]);
  perform holdfast.audit_operation(p_actor, 'retry', p_job_id, jsonb_build_object('from', v_state));
  perform holdfast.wake_workers(array[v_job.queue], holdfast.now(), 'always');
  return v_state;
end
$$;

create or replace function holdfast.retry_job(job_id bigint, actor text default null) returns text
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.retry_job_v1(job_id, actor) $$;
