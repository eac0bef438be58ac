-- recent_work: how many jobs finished lately, and how long they had waited
--   Guard   none.
--   Locks   none.
--   Returns one row, from at most p_n finished jobs of the window: how many, whether there were more, and the 95th percentile of
--           the time from due to claimed, of all and of those that belong to a pipeline.
--   Notifies nothing.
create or replace function holdfast.recent_work_v1(p_window interval default '5 minutes', p_n integer default 10000)
  returns table (jobs integer, is_capped boolean, wait_p95_ms double precision, chain_wait_p95_ms double precision)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_since constant timestamptz := holdfast.now() - p_window;
begin
  return query
    with recent as materialized (
      select o.job_id, 1000 * extract(epoch from o.locked_at - o.run_at)::double precision as wait_ms
        from (
          select c.job_id, c.locked_at, c.run_at
            from holdfast.outcome as c
           where c.state = 'completed'
             and c.finished_at > v_since
          union all
          select u.job_id, u.locked_at, u.run_at
            from holdfast.outcome as u
           where u.state in ('failed', 'cancelled', 'superseded')
             and u.finished_at > v_since
        ) as o
       where o.locked_at is not null
       limit p_n
    ),
    told as materialized (
      select r.wait_ms, j.is_chained
        from recent as r
       cross join lateral (
         select k.pipeline_id is not null as is_chained from holdfast.job as k where k.id = r.job_id limit 1
       ) as j
    )
    select count(*)::integer,
           count(*) >= p_n,
           percentile_cont(0.95) within group (order by t.wait_ms),
           percentile_cont(0.95) within group (order by t.wait_ms) filter (where t.is_chained)
      from told as t;
end
$$;
