-- recover_job: running → pending, by an operator, with fresh attempts
--   Guard   the job was claimed longer ago than p_stale; a younger claim is refused.
--   Locks   the key row, then the lease row.
--   Returns nothing; raises JOB_NOT_FOUND, WRONG_STATE (the job does not run) or NOT_STALE. The former holder is fenced.
--   Notifies workers that sleep.
create or replace function holdfast.recover_job_v1(
  p_job_id bigint, p_stale interval default '30 minutes', p_actor text default null
)
  returns void
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_lease holdfast.lease;
begin
  select j.key into v_key from holdfast.job as j where j.id = p_job_id;
  if not found then
    perform holdfast.refuse('JOB_NOT_FOUND', format('there is no job %s', p_job_id), jsonb_build_object('job_id', p_job_id));
  end if;
  perform from holdfast.job_key as k where k.key = v_key for update;
  select l.* into v_lease from holdfast.lease as l where l.job_id = p_job_id for update;
  if not found then
    perform holdfast.refuse('WRONG_STATE', format('job %s is %s; only a running job can be recovered', p_job_id,
      coalesce(holdfast.state_of(p_job_id), 'in motion')),
      jsonb_build_object('job_id', p_job_id, 'state', holdfast.state_of(p_job_id)));
  elsif v_lease.locked_at >= holdfast.now() - p_stale then
    perform holdfast.refuse('NOT_STALE', format('job %s was claimed at %s, less than %s ago', p_job_id, v_lease.locked_at,
      p_stale), jsonb_build_object('job_id', p_job_id, 'locked_at', v_lease.locked_at, 'locked_by', v_lease.locked_by));
  end if;

  insert into holdfast.attempt (job_id, token, attempt, verdict, lease_id, worker, started_at, ended_at, error)
  values (p_job_id, v_lease.token, v_lease.attempts, 'lost', v_lease.lease_id, v_lease.locked_by, v_lease.locked_at,
          holdfast.now(), '{"name": "Recovered", "message": "an operator took the job from its holder"}');
  perform holdfast.return_leases(array[p_job_id], array[holdfast.now()], null);
  perform holdfast.audit_operation(p_actor, 'recover', p_job_id, jsonb_build_object('locked_by', v_lease.locked_by));
end
$$;

create or replace function holdfast.recover_job(job_id bigint, stale interval default '30 minutes', actor text default null)
  returns void
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select holdfast.recover_job_v1(job_id, stale, actor) $$;
