-- enable_schedule: its ticks are fired again, from now on; disable_schedule: they are no longer fired
--   Guard   none; ticks that passed while it was disabled are not fired later, and jobs of earlier ticks go on.
--   Locks   the schedule row.
--   Returns true when the schedule was not so before; raises JOB_UNKNOWN.
--   Notifies nothing.
create or replace function holdfast.enable_schedule_v1(p_job_key text, p_actor text default null) returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.switch_schedule(p_job_key, 'enable_schedule', p_actor) $$;

create or replace function holdfast.disable_schedule_v1(p_job_key text, p_actor text default null) returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.switch_schedule(p_job_key, 'disable_schedule', p_actor) $$;

create or replace function holdfast.switch_schedule(p_job_key text, p_operation text, p_actor text) returns boolean
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_row holdfast.schedule := holdfast.lock_schedule(p_job_key);
begin
  if v_row.enabled = (p_operation = 'enable_schedule') then
    return false;
  end if;
  v_row.enabled := not v_row.enabled;
  update holdfast.schedule as s set enabled = v_row.enabled, updated_at = holdfast.now() where s.job_key = p_job_key;
  if v_row.enabled then
    update holdfast.schedule as s
       set counts_from = s.updated_at, next_tick = null, version = s.version + 1, fault = null, locked_until = null
     where s.job_key = p_job_key;
  end if;
  perform holdfast.audit_operation(p_actor, p_operation, null, jsonb_build_object('job_key', p_job_key));
  return true;
end
$$;

create or replace function holdfast.enable_schedule(job_key text, actor text default null) returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.enable_schedule_v1(job_key, actor) $$;

create or replace function holdfast.disable_schedule(job_key text, actor text default null) returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.disable_schedule_v1(job_key, actor) $$;
