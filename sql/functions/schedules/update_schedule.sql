-- update_schedule: changes a schedule by an operator, whose settings win over those in code
--   Guard   the new settings are checked.
--   Locks   the schedule row.
--   Returns nothing; raises JOB_UNKNOWN or INVALID_OPTION. Null changes give the schedule back to code.
--   Notifies nothing.
-- Changes hold only what changes; a JSON null takes a setting back to its default. cron replaces every_ms and the other way
-- round; an input replaces one that code computes.
create or replace function holdfast.update_schedule_v1(p_job_key text, p_changes jsonb, p_actor text default null) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old constant holdfast.schedule := holdfast.lock_schedule(p_job_key);
  v_settings jsonb := holdfast.schedule_settings(v_old);
  v_new holdfast.schedule;
begin
  if p_changes is null and v_old.code is null then
    perform holdfast.refuse('INVALID_OPTION', format('no code defines the schedule "%s"', p_job_key));
  elsif p_changes is not null and jsonb_typeof(p_changes) <> 'object' or p_changes ?| array['job_key', 'input_from_code'] then
    perform holdfast.refuse('INVALID_OPTION', 'changes must be a JSON object of settings other than job_key, or NULL');
  end if;

  if p_changes is null then
    v_settings := v_old.code;
  else
    v_settings := v_settings
      - case when p_changes ? 'cron' then 'every_ms' when p_changes ? 'every_ms' then 'cron' else '' end
      - case when p_changes ? 'input' then 'input_from_code' else '' end
      || p_changes;
  end if;
  v_new := holdfast.read_schedule(v_settings);
  perform holdfast.write_schedule(v_new);
  update holdfast.schedule as s
     set is_edited = v_old.code is not null and v_old.code <> holdfast.schedule_settings(v_new)
   where s.job_key = p_job_key;
  perform holdfast.audit_operation(p_actor, 'update_schedule', null,
    jsonb_build_object('job_key', p_job_key, 'changes', coalesce(p_changes, 'null')));
end
$$;

create or replace function holdfast.update_schedule(job_key text, changes jsonb, actor text default null) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.update_schedule_v1(job_key, changes, actor) $$;
