-- assert_lease: running → running, locked until the caller's transaction ends
--   Guard   the caller holds the job's lease (job id, token, lease id).
--   Locks   the key row, then the lease row, until the caller commits: the job is not reaped, cancelled or superseded before.
--   Returns nothing; raises LEASE_LOST, which aborts the caller's transaction and undoes all that it wrote.
--   Notifies nothing.
create or replace function holdfast.assert_lease_v1(p_job_id bigint, p_token bigint, p_lease_id uuid)
  returns void
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform
     from holdfast.lock_leases(jsonb_build_array(
       jsonb_build_object('job_id', p_job_id, 'token', p_token, 'lease_id', p_lease_id)));
  if not found then
    perform holdfast.refuse('LEASE_LOST', format('the lease on job %s is lost', p_job_id),
      jsonb_build_object('job_id', p_job_id, 'token', p_token));
  end if;
end
$$;

create or replace function holdfast.assert_lease(job_id bigint, token bigint, lease_id uuid)
  returns void
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select holdfast.assert_lease_v1(job_id, token, lease_id) $$;
