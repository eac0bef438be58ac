-- statistics_are_due: whether what has ended since the last time is to be added to the figures
--   Guard   none.
--   Locks   none.
--   Gives   false for four seconds after a round, which itself leaves out the last five.
--   Tells   nothing.
--   Tested by  test/sql/maintenance/due_maintenance.test.ts
create or replace function holdfast.statistics_are_due()
  returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select not exists (select from holdfast.stats_mark as m where m.counted_to > holdfast.now() - interval '9 seconds')
$$;
