-- claim_batch: pending → running for jobs of one queue, for workers of the library
--   Guard   as claim_jobs.
--   Locks   ready rows in claim order, skip locked; never waits.
--   Returns jobs: what encode_claimed_jobs returns, or null when none was claimed; the position where the next claim may go on;
--           has_more: due jobs are left because the call became long, though it may have claimed few. Ask again at once.
--   Notifies nothing.
-- p_lease_id is a random uuid, a new one for each call: release_claims gives back what a call claimed whose answer was lost. A
-- repeated one stays safe because the token grows with each claim; but then release_claims gives back the jobs of both calls.
create or replace function holdfast.claim_batch_v1(
  p_worker text, p_queue text, p_types text[], p_n integer, p_from_priority integer default 0,
  p_from_run_at timestamptz default '-infinity', p_from_job_id bigint default 0, p_lease_id uuid default null,
  out jobs json, out priority integer, out run_at timestamptz, out job_id bigint, out has_more boolean
)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_leases holdfast.lease[];
begin
  perform holdfast.check_claim(p_worker, array[p_queue], p_types, p_n);
  select s.leases, s.priority, s.run_at, s.job_id, s.has_more
    into v_leases, priority, run_at, job_id, has_more
    from holdfast.scan_queue(p_queue, p_types, p_n, p_from_priority, p_from_run_at, p_from_job_id, p_worker,
                             coalesce(p_lease_id, gen_random_uuid()), holdfast.lease_seconds_by_type(p_types)) as s;
  jobs := holdfast.encode_claimed_jobs(v_leases);
end
$$;
