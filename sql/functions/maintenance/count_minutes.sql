-- count_minutes: adds what ended within a span to the statistics, or what ended at its beginning if the span holds too much
--   Guard   the caller holds statistics_mark, and moves it to the end that this returns in the same transaction.
--   Locks   rows of statistics_minute.
--   Returns up to where it has counted.
--   Notifies nothing.
--   Tested by  test/sql/maintenance/roll_statistics.test.ts
create or replace function holdfast.count_minutes(p_from timestamptz, p_to timestamptz) returns timestamptz
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'
  set plan_cache_mode = force_custom_plan  -- days outside the span are left out when the plan is made
as $$
declare
  v_most constant integer := 20000;
  v_to timestamptz;
begin
  -- Most spans of a quiet system are empty, and to plan the count takes longer than all else in a round.
  if not exists (select from holdfast.ended_between(p_from, p_to)) then
    return p_to;
  end if;
  -- The span ends where it holds too much; more than that at one moment must not stop the count.
  v_to := (select e.at from holdfast.ended_between(p_from, p_to) as e order by e.at offset v_most limit 1);
  v_to := least(p_to, greatest(coalesce(v_to, p_to), p_from + interval '1 millisecond'));

  with timed as (
    select date_trunc('minute', e.at) as minute, j.queue, j.type, e.fact,
           case when e.locked_at >= e.run_at then 1000 * date_part('epoch', e.locked_at - e.run_at) end as wait_ms,
           case when e.at >= e.locked_at then 1000 * date_part('epoch', e.at - e.locked_at) end as run_ms
      from holdfast.ended_between(p_from, v_to) as e
     cross join lateral (select b.queue, b.type from holdfast.job as b where b.id = e.job_id limit 1) as j
  ),
  placed as materialized (  -- a row for each pair of buckets that occurs: they are few
    select t.minute, t.queue, t.type, t.fact, width_bucket(t.wait_ms, holdfast.statistics_buckets()) as wait,
           width_bucket(t.run_ms, holdfast.statistics_buckets()) as run, count(*) as n,
           sum(t.wait_ms) as wait_ms, sum(t.run_ms) as run_ms
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
  )
  insert into holdfast.statistics_minute as m
    (minute, queue, type, fact, n, wait_ms, run_ms, wait_buckets, run_buckets)
  select s.minute, s.queue, s.type, s.fact, max(s.n), max(s.wait_ms), max(s.run_ms),
         array_agg(s.waits order by s.bucket), array_agg(s.runs order by s.bucket)
    from spread as s
   group by 1, 2, 3, 4
  on conflict (minute, queue, type, fact) do update
     set n = m.n + excluded.n,
         wait_ms = m.wait_ms + excluded.wait_ms,
         run_ms = m.run_ms + excluded.run_ms,
         wait_buckets = holdfast.add_buckets(m.wait_buckets, excluded.wait_buckets),
         run_buckets = holdfast.add_buckets(m.run_buckets, excluded.run_buckets);
  return v_to;
end
$$;

-- What ended, of completed jobs, of others, and of attempts: each has its own index.
create or replace function holdfast.ended_between(p_from timestamptz, p_to timestamptz)
  returns table (at timestamptz, job_id bigint, fact text, locked_at timestamptz, run_at timestamptz)
  language sql stable
as $$
  select o.finished_at, o.job_id, o.state, o.locked_at, o.run_at
    from holdfast.outcome as o
   where o.state = 'completed' and o.finished_at >= p_from and o.finished_at < p_to
  union all
  select o.finished_at, o.job_id, o.state, o.locked_at, o.run_at
    from holdfast.outcome as o
   where o.state in ('failed', 'cancelled', 'superseded') and o.finished_at >= p_from and o.finished_at < p_to
  union all
  select a.ended_at, a.job_id, 'attempt_' || a.verdict, a.started_at, null
    from holdfast.attempt as a
   where a.ended_at >= p_from and a.ended_at < p_to
$$;

-- The sums of two histograms, bucket by bucket.
create or replace function holdfast.add_buckets(p_one bigint[], p_other bigint[]) returns bigint[]
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select array_agg(coalesce(b.one, 0) + coalesce(b.other, 0) order by b.place)
    from unnest(p_one, p_other) with ordinality as b(one, other, place)
$$;

-- Upper bounds in milliseconds; one bucket more holds what lies beyond the last.
create or replace function holdfast.statistics_buckets() returns double precision[]
  language sql immutable
as $$
  select array[5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000, 900000, 3600000]::double precision[]
$$;
