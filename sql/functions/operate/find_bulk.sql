-- find_bulk: one bulk operation
--   Guard   none.
--   Locks   none.
--   Returns its row, or none.
--   Notifies nothing.
--   Tested by  test/sql/operate/list_bulk.test.ts
create or replace function holdfast.find_bulk_v1(p_id bigint)
  returns setof holdfast.bulk_operation
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select b.* from holdfast.bulk_operation as b where b.id = p_id
$$;
