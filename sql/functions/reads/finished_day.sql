-- finished_day: the newest day that may have outcomes from before a moment
--   Guard   none.
--   Locks   none.
--   Returns the day's beginning in UTC; null when there is none.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- A day without a partition of its own can only be in the default one.
create or replace function holdfast.finished_day(p_before timestamptz)
  returns timestamptz
  language sql stable
  set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'
as $$
  select greatest(
    (select max(d.day)
       from pg_catalog.pg_inherits as i
       join pg_catalog.pg_class as c on c.oid = i.inhrelid
      cross join lateral (select to_date(right(c.relname, 8), 'YYYYMMDD')::timestamptz) as d(day)
      where i.inhparent = 'holdfast.outcome'::regclass
        and c.relname ~ '^outcome_\d{8}$'
        and d.day < p_before),
    (select date_trunc('day', max(d.finished_at)) from holdfast.outcome_default as d
      where d.state = 'completed' and d.finished_at < p_before),
    (select date_trunc('day', max(o.finished_at))
       from unnest(array['failed', 'cancelled', 'superseded']) as s(state)
      cross join lateral (
        select d.finished_at
          from holdfast.outcome_default as d
         where d.state = s.state
           and d.state <> 'completed'
           and d.finished_at < p_before
         order by d.finished_at desc
         limit 1
      ) as o)
  )
$$;
