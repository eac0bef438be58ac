-- retry_pipeline: completed | failed | cancelled | superseded → pending | waiting, from the steps that did not complete
--   Guard   all jobs of the pipeline have ended, one of them did not complete, and it has not been compensated.
--   Locks   the pipeline's row, then the outcomes.
--   Returns how many jobs it opens again: those that did not complete and all that depend on them, with all their attempts.
--           Raises PIPELINE_NOT_FOUND or WRONG_STATE.
--   Notifies workers, when the caller's transaction commits.
create or replace function holdfast.retry_pipeline_v1(p_pipeline uuid, p_actor text default null)
  returns integer
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_row holdfast.pipeline;
  v_again bigint[];
  v_ids bigint[];
  v_tokens bigint[];
  v_waiting holdfast.waiting[];
begin
  select p.* into v_row from holdfast.pipeline as p where p.id = p_pipeline for update;
  if not found then
    perform holdfast.refuse('PIPELINE_NOT_FOUND', format('there is no pipeline %s', p_pipeline),
      jsonb_build_object('pipeline_id', p_pipeline));
  elsif v_row.compensated_at is not null then
    perform holdfast.refuse('WRONG_STATE', 'the pipeline has been compensated; enqueue a new one',
      jsonb_build_object('pipeline_id', p_pipeline, 'compensated_at', v_row.compensated_at));
  elsif holdfast.pipeline_lives(p_pipeline) then
    perform holdfast.refuse('WRONG_STATE', 'jobs of the pipeline have not ended yet; retry it when they have, or cancel it',
      jsonb_build_object('pipeline_id', p_pipeline));
  end if;

  v_again := array(
    with recursive again as (
      select j.id
        from holdfast.job as j
       where j.pipeline_id = p_pipeline
         and (select o.state from holdfast.outcome as o where o.job_id = j.id limit 1) <> 'completed'
      union
      select d.job_id from again as a join holdfast.dependency as d on d.depends_on = a.id
    )
    select a.id from again as a
  );
  if v_again = '{}' then
    perform holdfast.refuse('WRONG_STATE', 'every step of the pipeline has completed',
      jsonb_build_object('pipeline_id', p_pipeline));
  end if;

  delete from holdfast.durable_step as s
   where s.job_id = any (v_again)
     and (s.kind = 'event' and s.output is null
          or (select o.state from holdfast.outcome as o where o.job_id = s.job_id limit 1) = 'completed');
  with gone as (
    delete from holdfast.outcome as o where o.job_id = any (v_again) returning o.job_id, o.token
  ),
  counted as (
    select g.job_id, g.token, (
             select count(*)::integer from holdfast.dependency as d where d.job_id = g.job_id and d.depends_on = any (v_again)
           ) as open
      from gone as g
  )
  select array_agg(c.job_id order by c.job_id) filter (where c.open = 0),
         array_agg(c.token order by c.job_id) filter (where c.open = 0),
         array_agg(row(c.job_id, p_pipeline, c.open, c.token, j.type, j.queue)::holdfast.waiting) filter (where c.open > 0)
    into v_ids, v_tokens, v_waiting
    from counted as c
   cross join lateral (select b.type, b.queue from holdfast.job as b where b.id = c.job_id limit 1) as j;
  perform holdfast.place_waiting(v_waiting);
  perform holdfast.ready_steps(v_ids, v_tokens);
  update holdfast.pipeline as p set stopped_by = null, stopped_at = null where p.id = p_pipeline;
  perform holdfast.audit_operation(p_actor, 'retry_pipeline', null,
    jsonb_build_object('pipeline_id', p_pipeline, 'steps', cardinality(v_again)));
  perform holdfast.wake_workers(
    array(select distinct r.queue from holdfast.ready as r where r.job_id = any (v_ids)), holdfast.now(), 'always');
  return cardinality(v_again);
end
$$;

create or replace function holdfast.retry_pipeline(pipeline uuid, actor text default null)
  returns integer
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select holdfast.retry_pipeline_v1(pipeline, actor) $$;
