-- claim_by_id: pending → running for one job by its id, for workers of the library
--   Guard   as lease_by_id.
--   Locks   as lease_by_id.
--   Returns what encode_claimed_jobs returns, or null: another has it, or it is not eligible.
--   Notifies nothing.
-- p_lease_id as in claim_batch.
create or replace function holdfast.claim_by_id_v1(
  p_job_id bigint,
  p_worker text,
  p_types text[] default null,
  p_lease_id uuid default null
)
  returns json
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  return holdfast.encode_claimed_jobs(
    holdfast.lease_by_id(p_job_id, p_worker, p_types, coalesce(p_lease_id, gen_random_uuid())));
end
$$;
