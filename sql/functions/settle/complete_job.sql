-- complete_job: running → completed, inside the caller's transaction
--   Guard   the caller holds the job's lease (job id, token, lease id).
--   Locks   the key row, then the lease row; for a step of a pipeline also as unblock_successors.
--   Returns nothing; raises LEASE_LOST, so that the caller's other writes do not commit without their job.
--   Notifies sleeping workers of a job that waited for the freed key; workers of the jobs that depend on a step.
create or replace function holdfast.complete_job_v1(p_job_id bigint, p_token bigint, p_lease_id uuid, p_output jsonb default null)
  returns void
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform holdfast.assert_lease_v1(p_job_id, p_token, p_lease_id);
  perform holdfast.end_leases(array[p_job_id], array['completed'], array[p_output], null, 'always');
end
$$;

create or replace function holdfast.complete_job(job_id bigint, token bigint, lease_id uuid, output jsonb default null)
  returns void
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select holdfast.complete_job_v1(job_id, token, lease_id, output) $$;
