-- statistics_are_due: whether what has ended since the last time is to be added to the statistics
--   Guard   none.
--   Locks   none.
--   Returns false for four seconds after a round, which itself leaves out the last five.
--   Notifies nothing.
--   Tested by  test/sql/maintenance/due_maintenance.test.ts
create or replace function holdfast.statistics_are_due()
  returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select not exists (select from holdfast.statistics_mark as m where m.counted_to > holdfast.now() - interval '9 seconds')
$$;
