-- schema_revision: which migrations this database has
--   Guard   none.
--   Locks   none.
--   Returns the highest applied revision, and the checksum of each migration's text by its revision.
--   Notifies nothing.
create or replace function holdfast.schema_revision_v1(out revision integer, out checksums jsonb)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select max(m.revision), jsonb_object_agg(m.revision, m.checksum) from holdfast.migration as m $$;

-- Only the owner may call it.
create or replace function holdfast.record_migration(p_revision integer, p_name text, p_checksum text) returns void
  language sql volatile set search_path = pg_catalog, pg_temp
as $$
  insert into holdfast.migration (revision, name, checksum)
  values (p_revision, p_name, p_checksum)
$$;
