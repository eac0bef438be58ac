-- claim_unkeyed: pending → running for jobs without a key
--   Guard   the caller has locked the ready rows at p_places and found them due.
--   Locks   nothing more.
--   Returns the leases.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_jobs.test.ts
-- Two statements are cheaper than one that deletes and inserts, which reads each row twice. Both see the same rows: these are locked.
-- It runs with the settings of its callers.
create or replace function holdfast.claim_unkeyed(
  p_places tid[], p_worker text, p_lease_id uuid, p_now timestamptz, p_lease_seconds jsonb
)
  returns holdfast.lease[]
  language plpgsql volatile
as $$
declare
  v_until timestamptz;
  v_leases holdfast.lease[];
begin
  if cardinality(p_places) > 10 then
    -- Most types have the same lease: it is then computed once and not for each job.
    v_until := (
      select case when min(s.seconds) = max(s.seconds) then p_now + make_interval(secs => min(s.seconds)::integer) end
        from jsonb_each_text(p_lease_seconds) as s(type, seconds)
    );
  end if;
  v_leases := array(
    select holdfast.lease_row(r, r.token + 1, p_worker, p_lease_id, p_now,
                              coalesce(v_until, p_now + make_interval(secs => (p_lease_seconds ->> r.type)::integer)))
      from holdfast.ready as r
     where r.ctid = any (p_places)
  );
  delete from holdfast.ready as r where r.ctid = any (p_places);
  perform holdfast.place_leases(v_leases);
  return v_leases;
end
$$;
