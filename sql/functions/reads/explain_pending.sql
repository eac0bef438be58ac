-- explain_pending: the reasons why a pending job does not run now
--   Guard   none.
--   Locks   none.
--   Returns one row per reason, code and facts; none when the job can run.
--   Notifies nothing.
--   Tested by  test/sql/reads/explain_job.test.ts
-- A worker counts as alive for ten seconds after its last heartbeat, as for the reaper.
create or replace function holdfast.explain_pending(p_job_id bigint)
  returns table (code text, facts jsonb)
  language sql stable set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_bitmapscan = off  -- a bitmap is made of the whole index, whatever the limit
  set timezone = 'UTC'
as $$
  with pending as materialized (
    select r.*, holdfast.now() as now from holdfast.ready as r where r.job_id = p_job_id
  ),
  waits as materialized (
    select s.kind, s.name, s.event, s.wake_at
      from pending as r
      join holdfast.durable_step as s on s.job_id = r.job_id and s.token = r.token
     where s.kind = 'sleep' and s.wake_at > r.now
        or s.is_open
  ),
  live as materialized (
    select w.id, w.queues, w.types, w.concurrency
      from pending as r
      join holdfast.worker as w on w.heartbeat_at > r.now - interval '10 seconds'
  ),
  able as materialized (
    select w.id, w.concurrency from pending as r join live as w on r.queue = any (w.queues) and r.type = any (w.types)
  ),
  ahead as materialized (
    select count(*) as jobs
      from (
        select
          from pending as r
         cross join lateral (
           select from holdfast.ready as o
            where o.queue = r.queue and o.priority = r.priority and not o.parked and o.crashes < 2 and o.run_at <= r.now
              and (o.run_at, o.job_id) < (r.run_at, r.job_id)
           union all
           select
             from generate_series(0, r.priority - 1) as p(priority)
            cross join lateral (
              select from holdfast.ready as o
               where o.queue = r.queue and o.priority = p.priority and not o.parked and o.crashes < 2 and o.run_at <= r.now
               limit 1001
            ) as o
           limit 1001
         ) as o
         where r.run_at <= r.now
      ) as o
  )
  select 'SLEEPING', jsonb_build_object('name', s.name, 'until', s.wake_at) from waits as s where s.kind = 'sleep'
  union all
  select 'WAITING_FOR_EVENT', jsonb_build_object('name', s.name, 'event', s.event, 'until', s.wake_at)
    from waits as s where s.kind = 'event'
  union all
  select case when r.attempts > 0 then 'RETRY_LATER' else 'NOT_DUE' end,
         jsonb_build_object('until', r.run_at, 'attempts', r.attempts, 'max_attempts', r.max_attempts, 'error', (
           select a.error ->> 'message' from holdfast.attempt as a where a.job_id = r.job_id order by a.token desc limit 1))
    from pending as r
   where r.run_at > r.now and not exists (select from waits)
  union all
  select 'QUEUE_PAUSED', jsonb_build_object('queue', q.name, 'by', q.paused_by, 'since', q.paused_at)
    from pending as r
    join holdfast.queue as q on q.name = r.queue and q.paused_at is not null
  union all
  select 'KEY_HELD', jsonb_build_object('key', l.key, 'job_id', l.job_id, 'worker', l.locked_by, 'until', l.locked_until)
    from pending as r
    join holdfast.lease as l on l.key = r.key
   where r.key_policy <> 'supersede'
  union all
  select 'RUNS_ALONE', jsonb_build_object('crashes', r.crashes) from pending as r where r.crashes >= 2
  union all
  select case
           when not exists (select from live) then 'NO_WORKER'
           when not exists (select from live as w where r.queue = any (w.queues)) then 'QUEUE_NOT_SERVED'
           else 'TYPE_NOT_SERVED'
         end,
         jsonb_build_object('queue', r.queue, 'type', r.type, 'known', (
           select coalesce(jsonb_agg(distinct k.name), '[]')
             from live as w
            cross join lateral unnest(case
              when not exists (select from live as o where r.queue = any (o.queues)) then w.queues
              when r.queue = any (w.queues) then w.types
            end) as k(name)
         ))
    from pending as r
   where not exists (select from able)
  union all
  select 'WORKERS_BUSY', jsonb_build_object('slots', s.slots, 'workers', s.workers, 'taken', s.taken)
    from (
      select sum(w.concurrency) as slots, count(*) as workers, sum(t.taken) as taken, bool_and(t.taken >= w.concurrency) as is_full
        from able as w
       cross join lateral (select count(*) as taken from holdfast.lease as l where l.locked_by = w.id) as t
    ) as s
   where s.is_full
  union all
  select 'BEHIND_OTHERS', jsonb_build_object('ahead', least(a.jobs, 1000), 'is_more', a.jobs > 1000)
    from ahead as a
   where a.jobs > 0
$$;
