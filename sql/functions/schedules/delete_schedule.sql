-- delete_schedule: the schedule and the history of its ticks → gone
--   Guard   none; jobs of its ticks stay. The next worker whose code defines the schedule creates it again.
--   Locks   the schedule row and its ticks.
--   Returns nothing; raises JOB_UNKNOWN.
--   Notifies nothing.
create or replace function holdfast.delete_schedule_v1(p_job_key text, p_actor text default null) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old constant holdfast.schedule := holdfast.lock_schedule(p_job_key);
begin
  delete from holdfast.schedule_tick as t where t.job_key = p_job_key;
  delete from holdfast.schedule as s where s.job_key = p_job_key;
  perform holdfast.audit_operation(p_actor, 'delete_schedule', null, holdfast.schedule_settings(v_old));
end
$$;

create or replace function holdfast.delete_schedule(job_key text, actor text default null) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.delete_schedule_v1(job_key, actor) $$;
