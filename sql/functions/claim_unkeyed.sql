-- claim_unkeyed: pending → running for jobs without a key
--   Guard   the caller has locked the ready rows at p_places and found them due.
--   Locks   nothing more.
--   Gives   nothing; the rows are leases now.
--   Tells   nothing.
--   Tested by  test/sql/claim_jobs.test.ts
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
begin
  with taken as (
    delete from holdfast.ready as r
     where r.ctid = any (p_places)
    returning r.job_id, r.type, r.queue, r.priority, r.run_at, r.attempts, r.max_attempts, r.token, r.crashes, r.linked
  )
  insert into holdfast.lease
    (job_id, type, queue, priority, run_at, attempts, max_attempts, token, lease_id, locked_by, locked_at, locked_until,
     crashes, linked)
  select t.job_id, t.type, t.queue, t.priority, t.run_at, t.attempts + 1, t.max_attempts, t.token + 1, p_lease_id,
         p_worker, p_now, p_now + make_interval(secs => (p_leases ->> t.type)::integer), t.crashes, t.linked
    from taken as t;
end
$$;
