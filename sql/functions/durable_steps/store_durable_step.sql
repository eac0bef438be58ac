-- store_durable_step: running → running, with the output of one step of the handler
--   Guard   the caller holds the job's lease (job id, token, lease id).
--   Locks   the lease row.
--   Returns nothing; raises LEASE_LOST, or INVALID_OPTION for a name or an output that cannot be stored. Repeating it
--           keeps the first output.
--   Notifies nothing.
-- Resets crashes: a job that has come further than before is not what kills its workers.
create or replace function holdfast.store_durable_step_v1(
  p_job_id bigint, p_token bigint, p_lease_id uuid, p_name text, p_output jsonb
)
  returns void
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem constant text := holdfast.input_problem(p_output);
begin
  perform holdfast.check_label('step', p_name);
  if v_problem is not null then
    perform holdfast.refuse('INVALID_OPTION', format('the output of step %s %s', p_name, v_problem),
      jsonb_build_object('job_id', p_job_id, 'step', p_name));
  end if;

  update holdfast.lease as l
     set crashes = 0
   where l.job_id = p_job_id and l.token = p_token and l.lease_id = p_lease_id;
  if not found then
    perform holdfast.refuse('LEASE_LOST', format('the lease on job %s is lost', p_job_id),
      jsonb_build_object('job_id', p_job_id, 'token', p_token));
  end if;

  insert into holdfast.durable_step (job_id, kind, name, token, at, output)
  values (p_job_id, 'step', p_name, p_token, holdfast.now(), p_output)
  on conflict (job_id, kind, name) do nothing;
end
$$;

create or replace function holdfast.store_durable_step(job_id bigint, token bigint, lease_id uuid, name text, output jsonb)
  returns void
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select holdfast.store_durable_step_v1(job_id, token, lease_id, name, output) $$;
