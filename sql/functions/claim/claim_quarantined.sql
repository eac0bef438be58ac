-- claim_quarantined: pending → running for a job that two workers died with
--   Guard   as claim_by_id; the caller runs nothing else meanwhile, so that a further death has one cause.
--   Locks   as claim_by_id.
--   Returns what encode_claimed_jobs returns, or null.
--   Notifies nothing.
-- p_lease_id as in claim_batch.
create or replace function holdfast.claim_quarantined_v1(
  p_worker text, p_queues text[], p_types text[], p_lease_id uuid default null
)
  returns json
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_lease_id constant uuid := coalesce(p_lease_id, gen_random_uuid());
  v_id bigint;
  v_leases holdfast.lease[];
begin
  for v_id in
    select r.job_id
      from holdfast.ready as r
     where r.queue = any (p_queues)
       and r.type = any (p_types)
       and not r.parked
       and r.crashes >= 2
       and r.run_at <= holdfast.now()
     order by r.priority, r.run_at, r.job_id
     limit 10
  loop
    v_leases := holdfast.lease_by_id(v_id, p_worker, p_types, v_lease_id);
    exit when v_leases <> '{}';
  end loop;
  return holdfast.encode_claimed_jobs(v_leases);
end
$$;

-- Whether such a job is due, as a hint: claim_quarantined decides.
create or replace function holdfast.quarantine_waits(p_queues text[], p_types text[]) returns boolean
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
      from holdfast.ready as r
     where r.queue = any (p_queues)
       and r.type = any (p_types)
       and not r.parked
       and r.crashes >= 2
       and r.run_at <= holdfast.now()
  )
$$;
