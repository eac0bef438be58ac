-- Every job as one table, whatever place it is in. job_type and run_after are further names of type and run_at. A waiting job
-- has no run_at of its own yet; the moment it was asked for stands in.
create or replace view holdfast.jobs as
select j.id,
       j.type,
       j.queue,
       j.priority,
       case
         when r.job_id is not null then 'pending'
         when l.job_id is not null then 'running'
         when w.job_id is not null then 'waiting'
         else o.state
       end as state,
       j.key,
       j.key_policy,
       coalesce(k.current_job = j.id, false) as is_current,
       coalesce(r.attempts, l.attempts, o.attempts, 0::smallint) as attempts,
       j.max_attempts,
       coalesce(r.token, l.token, o.token, w.token) as token,
       coalesce(l.locked_by, o.locked_by) as locked_by,
       coalesce(l.locked_at, o.locked_at) as locked_at,
       l.locked_until,
       l.lease_id,
       l.progress,
       l.status_message,
       coalesce(r.parked, false) as parked,
       j.input,
       o.output,
       o.error,
       j.pipeline_id,
       j.tags,
       j.dedupe_id,
       j.created_at,
       coalesce(r.run_at, l.run_at, o.run_at, j.created_at) as run_at,
       o.finished_at,
       j.type as job_type,
       coalesce(r.run_at, l.run_at, o.run_at, j.created_at) as run_after,
       s.name as step,
       j.trace
  from holdfast.job as j
  left join holdfast.ready as r on r.job_id = j.id
  left join holdfast.lease as l on l.job_id = j.id
  left join holdfast.outcome as o on o.job_id = j.id
  left join holdfast.waiting as w on w.job_id = j.id
  left join holdfast.pipeline_step as s on s.job_id = j.id
  left join holdfast.job_key as k on k.key = j.key;
