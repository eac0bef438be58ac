-- place_waiting: makes steps of a pipeline wait for their dependencies
--   Guard   the jobs are new, or the caller has taken them out of the place that they leave.
--   Locks   none.
--   Returns nothing.
--   Notifies nothing.
--   Tested by  test/sql/places/places.test.ts
create or replace function holdfast.place_waiting(p_rows holdfast.waiting[])
  returns void
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
begin
  insert into holdfast.waiting select w.* from unnest(p_rows) as w;
end
$$;
