-- place_outcomes: puts jobs into their final state
--   Guard   the caller holds the rows of these jobs in the place that they leave, and drops them there.
--   Locks   none.
--   Returns nothing.
--   Notifies nothing.
--   Tested by  test/sql/places/places.test.ts
create or replace function holdfast.place_outcomes(p_rows holdfast.outcome[])
  returns void
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
begin
  insert into holdfast.outcome select o.* from unnest(p_rows) as o;
end
$$;
