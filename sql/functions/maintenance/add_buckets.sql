-- add_buckets: two histograms as one
--   Guard   none.
--   Locks   none.
--   Returns the sums, bucket by bucket.
--   Notifies nothing.
--   Tested by  test/sql/maintenance/roll_statistics.test.ts
create or replace function holdfast.add_buckets(p_one bigint[], p_other bigint[])
  returns bigint[]
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $$
  select array_agg(coalesce(b.one, 0) + coalesce(b.other, 0) order by b.place)
    from unnest(p_one, p_other) with ordinality as b(one, other, place)
$$;
