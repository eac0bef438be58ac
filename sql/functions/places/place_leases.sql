-- place_leases: makes jobs running
--   Guard   the jobs are new, or the caller has locked their rows in the place that they leave, and drops them there.
--   Locks   none.
--   Returns nothing.
--   Notifies nothing.
-- It runs with the settings of its callers.
create or replace function holdfast.place_leases(p_rows holdfast.lease[])
  returns void
  language plpgsql volatile
as $$
begin
  insert into holdfast.lease select l.* from unnest(p_rows) as l;
end
$$;
