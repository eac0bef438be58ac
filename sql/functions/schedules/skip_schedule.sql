-- skip_schedule: the next tick of a schedule makes no job
--   Guard   the next tick is planned and not yet fired.
--   Locks   the schedule row.
--   Returns the tick that is skipped, the same one if called again before it; raises JOB_UNKNOWN, JOB_DISABLED or JOB_NOT_DUE.
--   Notifies nothing.
create or replace function holdfast.skip_schedule_v1(p_job_key text, p_actor text default null) returns timestamptz
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_row constant holdfast.schedule := holdfast.lock_schedule(p_job_key);
  v_details constant jsonb := jsonb_build_object('job_key', p_job_key);
begin
  if not v_row.enabled then
    perform holdfast.refuse('JOB_DISABLED', 'job_disabled', v_details);
  elsif coalesce(v_row.next_tick, 'infinity') = 'infinity' then
    perform holdfast.refuse('JOB_NOT_DUE', 'job_not_due', v_details);
  end if;
  insert into holdfast.schedule_tick (job_key, tick, state, worker, at)
  values (p_job_key, v_row.next_tick, 'skipped', coalesce(p_actor, session_user), holdfast.now())
  on conflict on constraint schedule_tick_pkey do nothing;
  if found then
    perform holdfast.audit_operation(p_actor, 'skip_schedule', null, v_details || jsonb_build_object('tick', v_row.next_tick));
  end if;
  return v_row.next_tick;
end
$$;

create or replace function holdfast.skip_schedule(job_key text, actor text default null) returns timestamptz
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.skip_schedule_v1(job_key, actor) $$;
