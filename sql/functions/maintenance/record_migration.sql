-- record_migration: notes that a migration was applied
--   Guard   none; only the owner may call it.
--   Locks   none.
--   Returns nothing.
--   Notifies nothing.
--   Tested by  test/store/migrate.test.ts
create or replace function holdfast.record_migration(p_revision integer, p_name text, p_checksum text)
  returns void
  language sql volatile
  set search_path = pg_catalog, pg_temp
as $$
  insert into holdfast.migration (revision, name, checksum)
  values (p_revision, p_name, p_checksum)
$$;
