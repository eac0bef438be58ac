-- count_minutes: adds what ended within a span to the statistics, or with the beginning of a span that holds too much
--   Guard   the caller holds statistics_mark, and moves it to the end that this gives in the same transaction.
--   Locks   rows of statistics_minute.
--   Returns up to where it has counted.
--   Notifies nothing.
--   Tested by  test/sql/maintenance/roll_statistics.test.ts
create or replace function holdfast.count_minutes(p_from timestamptz, p_to timestamptz)
  returns timestamptz
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'
  set plan_cache_mode = force_custom_plan  -- days outside the span are left out when the plan is made
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_sort = off  -- thousands of rows for a few groups
as $$
declare
  v_most constant integer := 20000;  -- of each kind in one go
  v_to timestamptz;
begin
  -- Most spans of a quiet system are empty, and to plan the count takes longer than all else that it does in a round.
  if not exists (
       select from holdfast.outcome as o
        where o.state = 'completed' and o.finished_at >= p_from and o.finished_at < p_to
     ) and not exists (
       select from holdfast.outcome as o
        where o.state in ('failed', 'cancelled', 'superseded') and o.finished_at >= p_from and o.finished_at < p_to
     ) and not exists (
       select from holdfast.attempt as a where a.ended_at >= p_from and a.ended_at < p_to
     )
  then
    return p_to;
  end if;
  v_to := least(p_to, (
    select o.finished_at
      from holdfast.outcome as o
     where o.state = 'completed'
       and o.finished_at >= p_from
       and o.finished_at < p_to
     order by o.finished_at
    offset v_most
     limit 1
  ), (
    select min(f.at)
      from unnest(array['failed', 'cancelled', 'superseded']) as s(state)
     cross join lateral (
       select o.finished_at as at
         from holdfast.outcome as o
        where o.state = s.state
          and o.state <> 'completed'
          and o.finished_at >= p_from
          and o.finished_at < p_to
        order by o.finished_at
       offset v_most
        limit 1
     ) as f
  ), (
    select a.ended_at
      from holdfast.attempt as a
     where a.ended_at >= p_from
       and a.ended_at < p_to
     order by a.ended_at
    offset v_most
     limit 1
  ));
  -- More than that at one moment must not bring it to a halt.
  v_to := least(p_to, greatest(v_to, p_from + interval '1 millisecond'));

  with ended as (
    select o.finished_at as at, o.job_id, o.state as fact, o.locked_at, o.run_at
      from holdfast.outcome as o
     where o.state = 'completed'
       and o.finished_at >= p_from
       and o.finished_at < v_to
    union all
    select o.finished_at, o.job_id, o.state, o.locked_at, o.run_at
      from holdfast.outcome as o
     where o.state in ('failed', 'cancelled', 'superseded')
       and o.finished_at >= p_from
       and o.finished_at < v_to
    union all
    select a.ended_at, a.job_id, 'attempt_' || a.verdict, a.started_at, null
      from holdfast.attempt as a
     where a.ended_at >= p_from
       and a.ended_at < v_to
  ),
  timed as (
    select date_trunc('minute', e.at) as minute, j.queue, j.type, e.fact,
           case when e.locked_at >= e.run_at then 1000 * date_part('epoch', e.locked_at - e.run_at) end as wait_ms,
           case when e.at >= e.locked_at then 1000 * date_part('epoch', e.at - e.locked_at) end as run_ms
      from ended as e
     cross join lateral (select b.queue, b.type from holdfast.job as b where b.id = e.job_id limit 1) as j
  ),
  placed as materialized (  -- a row for each pair of buckets that occurs: they are few, and each time is looked at once
    select t.minute, t.queue, t.type, t.fact, width_bucket(t.wait_ms, holdfast.statistics_buckets()) as wait,
           width_bucket(t.run_ms, holdfast.statistics_buckets()) as run, count(*) as n, sum(t.wait_ms) as wait_ms, sum(t.run_ms) as run_ms
      from timed as t
     group by 1, 2, 3, 4, 5, 6
  ),
  spread as (
    select p.minute, p.queue, p.type, p.fact, b.bucket, sum(p.n)::bigint as n,
           coalesce(sum(p.wait_ms), 0)::bigint as wait_ms, coalesce(sum(p.run_ms), 0)::bigint as run_ms,
           coalesce(sum(p.n) filter (where p.wait = b.bucket), 0)::bigint as waits,
           coalesce(sum(p.n) filter (where p.run = b.bucket), 0)::bigint as runs
      from placed as p
     cross join generate_series(0, cardinality(holdfast.statistics_buckets())) as b(bucket)
     group by 1, 2, 3, 4, 5
  ),
  summed as materialized (
    select s.minute, s.queue, s.type, s.fact, max(s.n) as n, max(s.wait_ms) as wait_ms, max(s.run_ms) as run_ms,
           array_agg(s.waits order by s.bucket) as wait_buckets, array_agg(s.runs order by s.bucket) as run_buckets
      from spread as s
     group by 1, 2, 3, 4
  )
  insert into holdfast.statistics_minute as m
    (minute, queue, type, fact, n, wait_ms, run_ms, wait_buckets, run_buckets)
  select s.minute, s.queue, s.type, s.fact, s.n, s.wait_ms, s.run_ms, s.wait_buckets, s.run_buckets
    from summed as s
  on conflict (minute, queue, type, fact) do update
     set n = m.n + excluded.n,
         wait_ms = m.wait_ms + excluded.wait_ms,
         run_ms = m.run_ms + excluded.run_ms,
         wait_buckets = holdfast.add_buckets(m.wait_buckets, excluded.wait_buckets),
         run_buckets = holdfast.add_buckets(m.run_buckets, excluded.run_buckets);
  return v_to;
end
$$;
