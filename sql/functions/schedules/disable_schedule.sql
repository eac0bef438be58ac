-- disable_schedule: no tick of it is fired any more
--   Guard   none; jobs that its ticks made go on.
--   Locks   the schedule row.
--   Returns true when it was enabled before; raises JOB_UNKNOWN.
--   Notifies nothing.
create or replace function holdfast.disable_schedule_v1(p_job_key text, p_actor text default null)
  returns boolean
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_old constant holdfast.schedule := holdfast.lock_schedule(p_job_key);
begin
  if v_old.enabled = false then
    return false;
  end if;
  update holdfast.schedule as s
     set enabled = false, updated_at = holdfast.now()
   where s.job_key = p_job_key;
  perform holdfast.audit_operation(p_actor, 'disable_schedule', null, jsonb_build_object('job_key', p_job_key));
  return true;
end
$$;

create or replace function holdfast.disable_schedule(job_key text, actor text default null)
  returns boolean
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select holdfast.disable_schedule_v1(job_key, actor)
$$;
