-- fold_statistics: makes one row of the statistics of an hour out of those of its minutes
--   Guard   the caller holds statistics_mark; every minute before p_until is counted.
--   Locks   rows of statistics_minute.
--   Returns up to where hours are folded; at most a day of them in one go.
--   Notifies nothing.
--   Tested by  test/sql/maintenance/roll_statistics.test.ts
create or replace function holdfast.fold_statistics(p_from timestamptz, p_until timestamptz)
  returns timestamptz
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'
as $$
declare
  v_folded timestamptz := p_from;
  v_hour timestamptz;
begin
  for v_turn in 1..24 loop
    select date_trunc('hour', min(m.minute)) into v_hour from holdfast.statistics_minute as m where m.minute >= v_folded;
    if v_hour is null or v_hour + interval '1 hour' > p_until then
      return greatest(v_folded, date_trunc('hour', p_until));
    end if;
    with gone as (
      delete from holdfast.statistics_minute as m
       where m.minute >= v_hour
         and m.minute < v_hour + interval '1 hour'
      returning m.*
    ),
    summed as (
      select g.queue, g.type, g.fact, sum(g.n)::bigint as n,
             sum(g.wait_ms)::bigint as wait_ms, sum(g.run_ms)::bigint as run_ms
        from gone as g
       group by g.queue, g.type, g.fact
    ),
    spread as (
      select t.queue, t.type, t.fact, array_agg(t.waits order by t.bucket) as waits, array_agg(t.runs order by t.bucket) as runs
        from (
          select g.queue, g.type, g.fact, b.bucket, sum(b.wait)::bigint as waits, sum(b.run)::bigint as runs
            from gone as g
           cross join lateral unnest(g.wait_buckets, g.run_buckets) with ordinality as b(wait, run, bucket)
           group by g.queue, g.type, g.fact, b.bucket
        ) as t
       group by t.queue, t.type, t.fact
    )
    insert into holdfast.statistics_minute
      (minute, queue, type, fact, n, wait_ms, run_ms, wait_buckets, run_buckets)
    select v_hour, s.queue, s.type, s.fact, s.n, s.wait_ms, s.run_ms, h.waits, h.runs
      from summed as s
      join spread as h using (queue, type, fact);
    v_folded := v_hour + interval '1 hour';
  end loop;
  return v_folded;
end
$$;
