-- list_queues: the queues in order of their name, with what is in them
--   Guard   none.
--   Locks   none.
--   Returns up to p_limit queues after the name p_after. No count goes beyond 10,001: more is more.
--   Notifies nothing.
create or replace function holdfast.list_queues_v1(p_after text default '', p_limit integer default 50)
  returns table (
    name text, paused_at timestamptz, paused_by text, pending integer, due integer, parked integer, waiting integer, running integer,
    oldest_due_at timestamptz, live_workers integer
  )
  language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_names constant text[] := holdfast.queue_names(p_after, least(greatest(p_limit, 1), 200));
begin
  return query
    with held as materialized (
      select h.queue, count(*)::integer as n from (select l.queue from holdfast.lease as l limit 10001) as h group by h.queue
    )
    select n.name, q.paused_at, q.paused_by, least(free.n + suspect.n + parked.n, 10001)::integer,
           least(due.n, 10001)::integer, parked.n::integer, waits.n::integer, coalesce(h.n, 0), due.first_at, alive.n::integer
      from unnest(v_names) as n(name)
      left join holdfast.queue as q on q.name = n.name
      left join held as h on h.queue = n.name
     cross join lateral (
       select count(*) as n
         from (select from holdfast.ready as r where r.queue = n.name and not r.parked and r.crashes < 2 limit 10001) as r
     ) as free
     cross join lateral (
       select count(*) as n
         from (select from holdfast.ready as r where r.queue = n.name and not r.parked and r.crashes >= 2 limit 10001) as r
     ) as suspect
     cross join lateral (
       select count(*) as n from (select from holdfast.ready as r where r.queue = n.name and r.parked limit 10001) as r
     ) as parked
     cross join lateral (
       select count(*) as n from (select from holdfast.waiting as w where w.queue = n.name limit 10001) as w
     ) as waits
     cross join lateral (
       select count(*) as n, min(d.run_at) as first_at
         from generate_series(0, 9) as p(priority)
        cross join lateral (
          select r.run_at
            from holdfast.ready as r
           where r.queue = n.name
             and r.priority = p.priority
             and r.run_at <= v_now
             and not r.parked
             and r.crashes < 2
           order by r.run_at
           limit 10001
        ) as d
     ) as due
     cross join lateral (
       select count(*) as n
         from holdfast.worker as w
        where w.queues @> array[n.name]
          and w.heartbeat_at > v_now - interval '10 seconds'
     ) as alive
     order by n.name;
end
$$;
