-- find_pipeline: one pipeline with its state
--   Guard   none.
--   Locks   none.
--   Returns one row or none: how the pipeline was enqueued, its state, how many of its jobs are in each state, and their queues.
--           A pipeline of chained jobs has no name. It reads every job of the pipeline; find_job reads the result alone.
--   Notifies nothing.
create or replace function holdfast.find_pipeline_v1(p_pipeline uuid)
  returns table (
    id uuid, name text, input jsonb, on_failure text, state text, result_job bigint, stopped_by bigint, stopped_at timestamptz,
    compensated_at timestamptz, created_at timestamptz, waiting integer, pending integer, running integer, completed integer,
    failed integer, cancelled integer, superseded integer, queues text[]
  )
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  with jobs as materialized (
    select j.created_at, j.queue,
           coalesce(
             (select 'waiting' from holdfast.waiting as w where w.job_id = j.id),
             (select 'pending' from holdfast.ready as r where r.job_id = j.id),
             (select 'running' from holdfast.lease as l where l.job_id = j.id),
             (
               select o.state
                 from holdfast.outcome as o
                where o.job_id = j.id
                  and o.finished_at >= j.created_at - interval '1 day'  -- reads no older days; a day allows for clocks
                limit 1
             )
           ) as state
      from holdfast.job as j
     where j.pipeline_id = p_pipeline
  ),
  counted as (
    select count(*) filter (where j.state = 'waiting')::integer as waiting,
           count(*) filter (where j.state = 'pending')::integer as pending,
           count(*) filter (where j.state = 'running')::integer as running,
           count(*) filter (where j.state = 'completed')::integer as completed,
           count(*) filter (where j.state = 'failed')::integer as failed,
           count(*) filter (where j.state = 'cancelled')::integer as cancelled,
           count(*) filter (where j.state = 'superseded')::integer as superseded,
           min(j.created_at) as created_at,
           array_agg(distinct j.queue) as queues
      from jobs as j
    having count(*) > 0
  )
  select p_pipeline, p.name, p.input, p.on_failure,
         case
           when c.waiting + c.pending + c.running > 0 then 'running'
           else coalesce(holdfast.state_of(coalesce(p.stopped_by, p.result_job)), case when c.failed > 0 then 'failed' end,
                         case when c.cancelled > 0 then 'cancelled' end, 'completed')
         end,
         p.result_job, p.stopped_by, p.stopped_at, p.compensated_at, coalesce(p.created_at, c.created_at),
         c.waiting, c.pending, c.running, c.completed, c.failed, c.cancelled, c.superseded, c.queues
    from counted as c
    left join holdfast.pipeline as p on p.id = p_pipeline
$$;

create or replace function holdfast.find_pipeline(pipeline uuid)
  returns table (
    id uuid, name text, input jsonb, on_failure text, state text, result_job bigint, stopped_by bigint, stopped_at timestamptz,
    compensated_at timestamptz, created_at timestamptz, waiting integer, pending integer, running integer, completed integer,
    failed integer, cancelled integer, superseded integer, queues text[]
  )
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.find_pipeline_v1(pipeline) $$;
