-- statistics_buckets: the bounds of the statistics' histograms, in milliseconds
--   Guard   none.
--   Locks   none.
--   Returns upper bounds, ascending; one bucket more holds what lies beyond the last.
--   Notifies nothing.
--   Tested by  test/sql/maintenance/roll_statistics.test.ts
create or replace function holdfast.statistics_buckets()
  returns double precision[]
  language sql immutable
as $$
  select array[5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000, 900000, 3600000]::double precision[]
$$;
