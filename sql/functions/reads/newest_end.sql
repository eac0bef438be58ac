-- newest_end: before which moment the finished jobs of a filter are looked for
--   Guard   none.
--   Locks   none.
--   Returns the filter's end or, since nothing finishes in the future, an hour from now: clocks are set back now and then.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- The days that are made ahead are not looked into.
create or replace function holdfast.newest_end(p_filter holdfast.job_filter)
  returns timestamptz
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select least(p_filter.until, holdfast.now() + interval '1 hour')
$$;
