-- unserved_work: due jobs that no live worker will run
--   Guard   none.
--   Locks   none.
--   Returns by queue and type: how long the oldest has been due, how many were seen, and why: `paused`, `no_worker` (no
--           worker serves the queue) or `no_handler` (no worker of the queue has a handler for the type). Jobs that no worker
--           claims gather at the head of their queue, so only the first 100 of each priority are read.
--   Notifies nothing.
create or replace function holdfast.unserved_work_v1(p_due_for interval default '1 minute')
  returns table (queue text, type text, reason text, jobs integer, oldest_run_at timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
begin
  return query
    with head as materialized (
      select n.name as queue, h.type, count(*)::integer as jobs, min(h.run_at) as oldest
        from holdfast.ready_queues() as n(name)
       cross join generate_series(0, 9) as p(priority)
       cross join lateral (
         select r.type, r.run_at
           from holdfast.ready as r
          where r.queue = n.name
            and r.priority = p.priority
            and r.run_at <= v_now - p_due_for
            and not r.parked
            and r.crashes < 2
          order by r.run_at, r.job_id
          limit 100
       ) as h
       group by n.name, h.type
    ),
    judged as (
      select h.*,
             case
               when exists (select from holdfast.queue as q where q.name = h.queue and q.paused_at is not null)
                 then 'paused'
               when not exists (
                 select from holdfast.worker as w
                  where w.heartbeat_at > v_now - interval '10 seconds' and h.queue = any (w.queues)
               ) then 'no_worker'
               when not exists (
                 select from holdfast.worker as w
                  where w.heartbeat_at > v_now - interval '10 seconds' and h.queue = any (w.queues) and h.type = any (w.types)
               ) then 'no_handler'
             end as reason
        from head as h
    )
    select j.queue, j.type, j.reason, j.jobs, j.oldest
      from judged as j
     where j.reason is not null
     order by j.queue, j.type;
end
$$;

-- The queues that have claimable or later jobs, each by one step of the claim index, however many jobs wait.
create or replace function holdfast.ready_queues() returns setof text
  language sql stable set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off  -- one step of the claim index per queue
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
as $$
  with recursive step(name) as (
    (select r.queue from holdfast.ready as r where not r.parked and r.crashes < 2 order by r.queue limit 1)
    union all
    select (select r.queue
              from holdfast.ready as r
             where r.queue > s.name and not r.parked and r.crashes < 2
             order by r.queue
             limit 1)
      from step as s
     where s.name is not null
  )
  select s.name from step as s where s.name is not null
$$;
