-- list_bulk: bulk operations, newest first
--   Guard   none.
--   Locks   none.
--   Returns up to p_limit rows before the id p_before; one or none where p_id is given.
--   Notifies nothing.
create or replace function holdfast.list_bulk_v1(
  p_id bigint default null,
  p_before bigint default null,
  p_limit integer default 50
)
  returns setof holdfast.bulk_operation
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select b.*
    from holdfast.bulk_operation as b
   where b.id < coalesce(p_before, 9223372036854775807)
     and (p_id is null or b.id = p_id)
   order by b.id desc
   limit least(greatest(p_limit, 1), 200)
$$;
