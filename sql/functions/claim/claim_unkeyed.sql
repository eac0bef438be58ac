-- claim_unkeyed: pending → running for jobs without a key
--   Guard   the caller has locked the ready rows at p_places and found them due.
--   Locks   nothing more.
--   Returns nothing; the rows are leases now.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_jobs.test.ts
-- The rows are the caller's, so they are the same in both statements. What one statement deletes and another inserts from would
-- be fetched twice and kept in between.
create or replace function holdfast.claim_unkeyed(
  p_places tid[],
  p_worker text,
  p_lease_id uuid,
  p_now timestamptz,
  p_leases jsonb
)
  returns void
  language plpgsql volatile  -- a body in SQL would be planned anew at every call
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_until timestamptz;
begin
  if cardinality(p_places) > 10 then
    -- Most types hold for the same time, which need not be looked up and added for each job.
    v_until := (
      select case when min(s.seconds) = max(s.seconds) then p_now + make_interval(secs => min(s.seconds)::integer) end
        from jsonb_each_text(p_leases) as s(type, seconds)
    );
  end if;
  perform holdfast.place_leases(array(
    select holdfast.lease_row(r, r.token + 1, p_worker, p_lease_id, p_now,
                              coalesce(v_until, p_now + make_interval(secs => (p_leases ->> r.type)::integer)))
      from holdfast.ready as r
     where r.ctid = any (p_places)
  ));
  delete from holdfast.ready as r where r.ctid = any (p_places);
end
$$;
