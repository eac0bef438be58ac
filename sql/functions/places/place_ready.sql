-- place_ready: makes jobs pending
--   Guard   the jobs are new, or the caller holds their rows in the place that they leave, and drops them there.
--   Locks   none.
--   Returns nothing.
--   Notifies nothing; the caller does.
--   Tested by  test/sql/places/places.test.ts
create or replace function holdfast.place_ready(p_rows holdfast.ready[])
  returns void
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
begin
  insert into holdfast.ready select r.* from unnest(p_rows) as r;
end
$$;
