-- chain_jobs: none → pending for the jobs that follow a running one, in its pipeline
--   Guard   the caller holds the job's lease (job id, token, lease id); members as in enqueue_jobs.
--   Locks   the key row, then the lease row, until the caller's transaction ends; the caller completes the job in it too.
--   Returns one job id per member; raises LEASE_LOST, INVALID_OPTION or INVALID_INPUT. A job without a pipeline gets one.
--   Notifies workers, by p_wake as in enqueue_jobs.
create or replace function holdfast.chain_jobs_v1(
  p_job_id bigint, p_token bigint, p_lease_id uuid, p_jobs jsonb, p_wake text default 'always'
)
  returns setof bigint
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_pipeline uuid;
  v_ids bigint[];
begin
  perform holdfast.assert_lease_v1(p_job_id, p_token, p_lease_id);
  select j.pipeline_id into v_pipeline from holdfast.job as j where j.id = p_job_id;
  if v_pipeline is null then
    v_pipeline := gen_random_uuid();
    update holdfast.job as j set pipeline_id = v_pipeline where j.id = p_job_id;
  end if;

  v_ids := array(
    select e.id from holdfast.enqueue_jobs_v1(p_jobs, jsonb_build_object('pipeline_id', v_pipeline), p_wake) as e(id));
  update holdfast.ready as r
     set linked = true
   where r.job_id = any (v_ids)
     and exists (select from holdfast.pipeline as p where p.id = v_pipeline)
     and (select j.pipeline_id from holdfast.job as j where j.id = r.job_id) = v_pipeline;
  return query select c.id from unnest(v_ids) as c(id);
end
$$;

create or replace function holdfast.chain_jobs(job_id bigint, token bigint, lease_id uuid, jobs jsonb, wake text default 'always')
  returns setof bigint
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.chain_jobs_v1(job_id, token, lease_id, jobs, wake) $$;
