-- match_finished: looks at the next finished jobs of one day, newest first, for those that fit a filter
--   Guard   none.
--   Locks   none.
--   Returns what match_jobs walks on with: the jobs that fit and when they finished, how many were looked at, and the last.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- The span must lie within one day, so that one partition is read; completed jobs have their own index, each
-- other state its own range of the other one.
create or replace function holdfast.match_finished(
  p_filter holdfast.job_filter,
  p_from timestamptz,
  p_to timestamptz,
  p_after_at timestamptz,
  p_after bigint,
  p_n integer,
  out ids bigint[], out ats timestamptz[], out looked integer, out last_id bigint, out last_at timestamptz
)
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan  -- the other days are left out when the plan is made
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
declare
  v_asks_completed constant boolean := p_filter.states is null or 'completed' = any (p_filter.states);
  v_states constant text[] := array(
    select s.state
      from unnest(array['failed', 'cancelled', 'superseded']) as s(state)
     where p_filter.states is null or s.state = any (p_filter.states)
  );
  v_asks_job constant boolean := num_nonnulls(p_filter.types, p_filter.queues, p_filter.tags, p_filter.input) > 0;
begin
  with next as materialized (
    select o.job_id, o.finished_at,
           (p_filter.worker is null or o.locked_by = p_filter.worker)
             and (p_filter.error is null
                  or strpos(lower(concat(o.error ->> 'name', ' ', o.error ->> 'message')), lower(p_filter.error)) > 0)
             and (not v_asks_job
                  or (select (p_filter.types is null or j.type = any (p_filter.types))
                               and (p_filter.queues is null or j.queue = any (p_filter.queues))
                               and (p_filter.tags is null or j.tags @> p_filter.tags)
                               and (p_filter.input is null or holdfast.input_fits(j.input, p_filter.input))
                        from holdfast.job as j
                       where j.id = o.job_id)) as fits
      from (
        (select o.job_id, o.finished_at, o.locked_by, o.error
           from holdfast.outcome as o
          where v_asks_completed
            and o.state = 'completed'
            and o.finished_at >= p_from
            and o.finished_at < p_to
            and (o.finished_at, o.job_id) < (p_after_at, p_after)
          order by o.finished_at desc, o.job_id desc
          limit p_n)
        union all
        (select f.*
           from unnest(v_states) as s(state)
          cross join lateral (
            select o.job_id, o.finished_at, o.locked_by, o.error
              from holdfast.outcome as o
             where o.state = s.state
               and o.state <> 'completed'
               and o.finished_at >= p_from
               and o.finished_at < p_to
               and (o.finished_at, o.job_id) < (p_after_at, p_after)
             order by o.finished_at desc, o.job_id desc
             limit p_n
          ) as f)
         order by finished_at desc, job_id desc
         limit p_n
      ) as o
  )
  select array_agg(n.job_id order by n.finished_at desc, n.job_id desc) filter (where n.fits),
         array_agg(n.finished_at order by n.finished_at desc, n.job_id desc) filter (where n.fits),
         count(*), (array_agg(n.job_id order by n.finished_at, n.job_id))[1], min(n.finished_at)
    into ids, ats, looked, last_id, last_at
    from next as n;
end
$$;
