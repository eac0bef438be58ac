-- claim_job: pending → running for one job by its id
--   Guard   as lease_by_id.
--   Locks   as lease_by_id.
--   Returns true: you own it and must run it; false: another has it or it is not eligible, skip it silently.
--   Notifies nothing.
-- The owner reads its token and lease id from the view jobs; a caller that settles by itself uses claim_one.
create or replace function holdfast.claim_job_v1(p_job_id bigint, p_worker text)
  returns boolean
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  return holdfast.lease_by_id(p_job_id, p_worker, null, gen_random_uuid()) <> '{}';
end
$$;

create or replace function holdfast.claim_job(job_id bigint, worker text)
  returns boolean
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select holdfast.claim_job_v1(job_id, worker)
$$;
