-- claim_one: pending → running for one job by its id, for callers in SQL
--   Guard   as lease_by_id.
--   Locks   as lease_by_id.
--   Returns the job as claim_jobs does, or no row.
--   Notifies nothing.
create or replace function holdfast.claim_one_v1(p_job_id bigint, p_worker text)
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  return query select r.* from holdfast.claim_rows(holdfast.lease_by_id(p_job_id, p_worker, null, gen_random_uuid())) as r;
end
$$;

create or replace function holdfast.claim_one(job_id bigint, worker text)
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.claim_one_v1(job_id, worker)
$$;
