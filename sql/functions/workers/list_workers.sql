-- list_workers: the workers that have registered, in order of their id
--   Guard   none.
--   Locks   none.
--   Returns up to p_limit rows after the id p_after, with what each has reported and the latest 100 of the jobs it runs.
--           At most 10,001 leases are counted; is_capped says that there are more.
--   Notifies nothing.
create or replace function holdfast.list_workers_v1(p_after text default '', p_limit integer default 50)
  returns table (
    id text, pod text, pid integer, version text, queues text[], types text[], concurrency integer, started_at timestamptz,
    heartbeat_at timestamptz, heartbeat_age_ms double precision, has_lock boolean, rss_bytes bigint, is_alone boolean,
    loop_delay_ms real, clock_offset_ms real, running integer, is_capped boolean, jobs bigint[]
  )
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with held as materialized (
    select l.job_id, l.locked_by, l.locked_at from holdfast.lease as l limit 10001
  ),
  runs as materialized (
    select h.locked_by, count(*)::integer as n, (array_agg(h.job_id order by h.locked_at desc, h.job_id desc))[:100] as jobs
      from held as h
     group by h.locked_by
  ),
  listed as materialized (
    select w.* from holdfast.worker as w where w.id > p_after order by w.id limit least(greatest(p_limit, 1), 1000)
  )
  select w.id, w.pod, w.pid, w.version, w.queues, w.types, w.concurrency, w.started_at, w.heartbeat_at,
         1000 * extract(epoch from holdfast.now() - w.heartbeat_at)::double precision, w.has_lock, w.rss_bytes, w.is_alone,
         w.loop_delay_ms, w.clock_offset_ms, coalesce(r.n, 0), (select count(*) from held) > 10000, coalesce(r.jobs, '{}')
    from listed as w
    left join runs as r on r.locked_by = w.id
   order by w.id
$$;
