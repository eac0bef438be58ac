-- enable_schedule: its ticks are fired again, from now on
--   Guard   none; ticks that passed while it was disabled are not owed.
--   Locks   the schedule row.
--   Returns true when it was disabled before; raises JOB_UNKNOWN.
--   Notifies nothing.
create or replace function holdfast.enable_schedule_v1(p_job_key text, p_actor text default null)
  returns boolean
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_old constant holdfast.schedule := holdfast.lock_schedule(p_job_key);
begin
  if v_old.enabled = true then
    return false;
  end if;
  update holdfast.schedule as s
     set enabled = true, counts_from = holdfast.now(), next_tick = null, version = s.version + 1, fault = null, locked_until = null, updated_at = holdfast.now()
   where s.job_key = p_job_key;
  perform holdfast.audit_operation(p_actor, 'enable_schedule', null, jsonb_build_object('job_key', p_job_key));
  return true;
end
$$;

create or replace function holdfast.enable_schedule(job_key text, actor text default null)
  returns boolean
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select holdfast.enable_schedule_v1(job_key, actor)
$$;
