-- trigger_schedule: none → pending for a job of the schedule, beside its ticks
--   Guard   none: the schedule may be disabled or not due.
--   Locks   the schedule row.
--   Returns the job's id; raises JOB_UNKNOWN or INVALID_OPTION. The moment is stored as a tick; the next tick stays.
--   Notifies workers, when the caller's transaction commits.
create or replace function holdfast.trigger_schedule_v1(
  p_job_key text,
  p_input jsonb default null,
  p_options jsonb default '{}',
  p_actor text default null
)
  returns bigint
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_row holdfast.schedule := holdfast.lock_schedule(p_job_key);
  v_tick timestamptz := holdfast.now();
  v_job_id bigint;
begin
  if v_row.input_from_code and p_input is null then
    perform holdfast.refuse('INVALID_OPTION', 'code computes the input of this schedule: give one',
      jsonb_build_object('job_key', p_job_key));
  end if;
  v_row.jitter_ms := 0;
  while exists (select from holdfast.schedule_tick as t where t.job_key = p_job_key and t.tick = v_tick) loop
    v_tick := v_tick + interval '1 microsecond';
  end loop;
  v_job_id := holdfast.fire_schedule(v_row, v_tick, p_input, p_options, coalesce(p_actor, session_user),
    case v_row.overlap when 'skip' then 'allow' else v_row.overlap end);
  update holdfast.schedule as s set last_job = v_job_id where s.job_key = p_job_key;
  perform holdfast.audit_operation(p_actor, 'trigger_schedule', v_job_id, jsonb_build_object('job_key', p_job_key));
  return v_job_id;
end
$$;

create or replace function holdfast.trigger_schedule(
  job_key text, input jsonb default null, options jsonb default '{}', actor text default null
)
  returns bigint
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.trigger_schedule_v1(job_key, input, options, actor) $$;
