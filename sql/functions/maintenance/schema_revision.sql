-- schema_revision: which migrations this database has
--   Guard   none.
--   Locks   none.
--   Gives   the highest applied revision and the oldest program revision that may still use this database.
--   Tells   nothing.
create or replace function holdfast.schema_revision_v1(out revision integer, out oldest_program integer)
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select max(m.revision), max(m.oldest_program) from holdfast.migration as m
$$;
