-- list_queues: the queues in order of their name, with what is in them
--   Guard   none.
--   Locks   none.
--   Returns up to p_limit queues after the name p_after. Each count ends at 10,001, which means more than 10,000.
--   Notifies nothing.
create or replace function holdfast.list_queues_v1(p_after text default '', p_limit integer default 50)
  returns table (
    name text, paused_at timestamptz, paused_by text, pending integer, due integer, parked integer, waiting integer,
    running integer, oldest_due_at timestamptz, live_workers integer
  )
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off  -- a bitmap is made of the whole index, whatever the limit
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

-- Up to p_n names after p_after, of pending, waiting and running jobs, of workers, types and pauses. It does not read the pending
-- jobs: each step asks their indexes for the next name.
create or replace function holdfast.queue_names(p_after text, p_n integer) returns text[]
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := array(
    select q.name from holdfast.queue as q where q.name > p_after
    union
    select t.queue from holdfast.job_type as t where t.queue > p_after
    union
    select u.name from holdfast.worker as w cross join lateral unnest(w.queues) as u(name) where u.name > p_after
    union
    select l.queue from (select h.queue from holdfast.lease as h limit 10001) as l where l.queue > p_after
  );
  v_names text[] := '{}';
  v_last text := p_after;
begin
  while cardinality(v_names) < p_n loop
    v_last := least(
      (select r.queue from holdfast.ready as r where r.queue > v_last and not r.parked and r.crashes < 2 order by r.queue limit 1),
      (select r.queue from holdfast.ready as r where r.queue > v_last and not r.parked and r.crashes >= 2 order by r.queue limit 1),
      (select r.queue from holdfast.ready as r where r.queue > v_last and r.parked order by r.queue limit 1),
      (select w.queue from holdfast.waiting as w where w.queue > v_last order by w.queue limit 1),
      (select min(k.name) from unnest(v_known) as k(name) where k.name > v_last)
    );
    exit when v_last is null;
    v_names := v_names || v_last;
  end loop;
  return v_names;
end
$$;
