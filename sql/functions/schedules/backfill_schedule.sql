-- backfill_schedule: none → pending for past ticks that have no job
--   Guard   no tick later than now; a tick that has a job keeps it, however often this is called.
--   Locks   the schedule row.
--   Returns one row per job that was made; raises JOB_UNKNOWN or INVALID_OPTION. The next tick stays.
--   Notifies workers, when the caller's transaction commits.
-- The caller gives the ticks. The overlap policy is ignored: an operator wants them all.
create or replace function holdfast.backfill_schedule_v1(
  p_job_key text, p_ticks timestamptz[], p_inputs jsonb[] default null, p_options jsonb[] default null,
  p_actor text default null
)
  returns table (tick timestamptz, job_id bigint)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_row constant holdfast.schedule := holdfast.lock_schedule(p_job_key);
  v_made integer := 0;
begin
  if p_ticks is null or cardinality(p_ticks) > 1000 or holdfast.now() < any (p_ticks) then
    perform holdfast.refuse('INVALID_OPTION', 'ticks must be an array of at most 1000 moments of the past',
      jsonb_build_object('job_key', p_job_key));
  elsif v_row.input_from_code and p_inputs is null then
    perform holdfast.refuse('INVALID_OPTION', 'code computes the input of this schedule: give one for each tick',
      jsonb_build_object('job_key', p_job_key));
  end if;
  for v_place in 1..cardinality(p_ticks) loop
    tick := p_ticks[v_place];
    job_id := holdfast.fire_schedule(v_row, tick, p_inputs[v_place], p_options[v_place], coalesce(p_actor, session_user),
      'allow', true);
    if job_id is not null then
      v_made := v_made + 1;
      return next;
    end if;
  end loop;
  perform holdfast.audit_operation(p_actor, 'backfill_schedule', null, jsonb_build_object('job_key', p_job_key, 'jobs', v_made,
    'from', p_ticks[1], 'to', p_ticks[cardinality(p_ticks)]));
end
$$;

create or replace function holdfast.backfill_schedule(
  job_key text, ticks timestamptz[], inputs jsonb[] default null, options jsonb[] default null, actor text default null
)
  returns table (tick timestamptz, job_id bigint)
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.backfill_schedule_v1(job_key, ticks, inputs, options, actor) $$;
