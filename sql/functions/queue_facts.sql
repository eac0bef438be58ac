-- queue_facts: the queues that have work, workers or a pause, by name
--   Guard   none.
--   Locks   none.
--   Gives   counts up to 10,001, which stands for "more than 10,000"; running ones are counted among as many leases.
--   Tells   nothing.
create or replace function holdfast.queue_facts_v1()
  returns table (
    name text,
    paused_at timestamptz,
    paused_by text,
    due integer,
    oldest_due_at timestamptz,
    running integer,
    live_workers integer
  )
  language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_sort = off
  set jit = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_most constant integer := 10001;
begin
  return query
    with served as materialized (
      select q.name, count(*)::integer as workers
        from holdfast.worker as w
       cross join lateral unnest(w.queues) as q(name)
       where w.beat_at > v_now - interval '10 seconds'
       group by q.name
    ),
    leased as materialized (
      select s.queue, count(*)::integer as jobs
        from (select l.queue from holdfast.lease as l limit v_most) as s
       group by s.queue
    ),
    names as materialized (
      select r.name from holdfast.ready_queues() as r(name)
      union
      select s.name from served as s
      union
      select l.queue from leased as l
      union
      select q.name from holdfast.queue as q
    )
    select n.name, q.paused_at, q.paused_by, d.jobs, d.oldest, coalesce(l.jobs, 0), coalesce(s.workers, 0)
      from names as n
      left join holdfast.queue as q on q.name = n.name
      left join leased as l on l.queue = n.name
      left join served as s on s.name = n.name
     cross join lateral (
       select least(sum(f.jobs), v_most)::integer as jobs, min(f.oldest) as oldest
         from generate_series(0, 9) as p(priority)
        cross join lateral (
          select count(*) as jobs, min(c.run_at) as oldest
            from (select r.run_at
                    from holdfast.ready as r
                   where r.queue = n.name
                     and r.priority = p.priority
                     and r.run_at <= v_now
                     and not r.parked
                     and r.crashes < 2
                   order by r.run_at, r.job_id
                   limit v_most) as c
        ) as f
     ) as d
     order by n.name;
end
$$;
