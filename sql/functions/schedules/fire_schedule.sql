-- fire_schedule: one tick of a schedule → its tick row and at most one job
--   Guard   the tick row's primary key: a tick that has a row already makes no job. p_again fires a tick that made none before.
--   Locks   the new tick row.
--   Returns the new job's id; null when the tick has its row, or overlaps a job of the schedule that is still alive.
--   Notifies workers, when the caller's transaction commits.
--   Tested by  test/sql/schedules/schedule_claim_next.test.ts
-- p_overlap is the schedule's policy, or allow for an operator. p_options depends on the input of this tick, such as its key.
create or replace function holdfast.fire_schedule(
  p_row holdfast.schedule, p_tick timestamptz, p_input jsonb, p_options jsonb, p_worker text, p_overlap text,
  p_again boolean default false
)
  returns bigint
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'  -- run_at is passed on as text, which some zones print with seconds of offset
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_overlaps constant boolean := p_overlap = 'skip'
    and coalesce(holdfast.state_of(p_row.last_job) in ('pending', 'waiting', 'running'), false);
  v_name constant text := 'schedule:' || p_row.job_key;
  v_options jsonb := p_row.options || coalesce(p_options, '{}');
  v_job_id bigint;
begin
  insert into holdfast.schedule_tick as t (job_key, tick, state, worker, at)
  values (p_row.job_key, p_tick, case when v_overlaps then 'overlapped' else 'fired' end, p_worker, v_now)
  on conflict on constraint schedule_tick_pkey do update
     set state = excluded.state, worker = excluded.worker, at = excluded.at
   where p_again
     and t.job_id is null;
  if not found or v_overlaps then
    return null;
  end if;

  v_options := v_options || jsonb_build_object(
    'run_at', greatest(p_tick + make_interval(secs => 0.001 * p_row.jitter_ms * random()), v_now),
    'tags', coalesce(v_options -> 'tags', '[]') || to_jsonb(v_name));
  if p_overlap = 'supersede' then
    v_options := v_options || jsonb_build_object('key', v_name, 'key_policy', 'supersede');
  end if;
  select e.id
    into v_job_id
    from holdfast.enqueue_jobs_v1(
      jsonb_build_array(jsonb_build_object('type', p_row.type, 'input', coalesce(p_input, p_row.input))), v_options
    ) as e(id);
  update holdfast.schedule_tick as t set job_id = v_job_id where t.job_key = p_row.job_key and t.tick = p_tick;
  return v_job_id;
end
$$;
