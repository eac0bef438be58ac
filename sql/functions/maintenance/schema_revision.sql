-- schema_revision: which migrations this database has
--   Guard   none.
--   Locks   none.
--   Returns the highest applied revision, and the checksum of each migration's text by its revision.
--   Notifies nothing.
create or replace function holdfast.schema_revision_v1(out revision integer, out checksums jsonb)
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select max(m.revision), jsonb_object_agg(m.revision, m.checksum) from holdfast.migration as m
$$;
