-- schedule_claim_next: the due tick of a schedule → its job, once
--   Guard   the schedule's advisory lock before its row is read; then enabled, not locked, due, and still as the caller read it.
--   Locks   the advisory lock by trying, then the schedule row, skip locked. It never waits.
--   Returns one row per tick that this call fired or gave up; raises JOB_LOCKED, JOB_UNKNOWN, JOB_DISABLED, JOB_NOT_DUE (the
--           message is the constant job_locked, job_unknown, job_disabled, job_not_due), WRONG_ISOLATION or INVALID_OPTION.
--   Notifies workers, when the caller's transaction commits.
-- By hand: select * from holdfast.schedule_claim_next('nightly', 'psql'): fires the due tick with the stored input; a worker
-- plans the next one. A worker gives the tick that it expects, the ticks to fire with their inputs, those that were missed, and
-- the next one.
create or replace function holdfast.schedule_claim_next_v1(
  p_job_key text, p_worker text, p_expected_tick timestamptz default null, p_next_tick timestamptz default null,
  p_ticks timestamptz[] default null, p_inputs jsonb[] default null, p_missed timestamptz[] default null,
  p_options jsonb[] default null, p_version bigint default null
)
  returns table (tick timestamptz, state text, job_id bigint)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_next constant timestamptz := date_trunc('milliseconds', p_next_tick);  -- clients know no finer ones
  v_details constant jsonb := jsonb_build_object('job_key', left(p_job_key, 100));
  v_row holdfast.schedule;
  v_ticks timestamptz[];
  v_last timestamptz;
begin
  perform holdfast.check_claim(p_worker, '{}', '{}', 1);
  if not pg_try_advisory_xact_lock(hashtextextended('holdfast.schedule:' || coalesce(p_job_key, ''), 7245906)) then
    perform holdfast.refuse('JOB_LOCKED', 'job_locked', v_details);
  end if;
  select s.* into v_row from holdfast.schedule as s where s.job_key = p_job_key for update skip locked;
  if not found and exists (select from holdfast.schedule as s where s.job_key = p_job_key) then
    perform holdfast.refuse('JOB_LOCKED', 'job_locked', v_details);
  elsif not found then
    perform holdfast.refuse('JOB_UNKNOWN', 'job_unknown', v_details);
  elsif not v_row.enabled or v_row.ends_at <= v_now and coalesce(v_row.next_tick, v_row.ends_at) >= v_row.ends_at then
    perform holdfast.refuse('JOB_DISABLED', 'job_disabled', v_details);
  elsif v_row.locked_until > v_now then
    perform holdfast.refuse('JOB_LOCKED', 'job_locked', v_details
      || jsonb_build_object('locked_by', v_row.locked_by, 'locked_until', v_row.locked_until));
  elsif coalesce(v_row.next_tick, 'infinity') > v_now or v_row.next_tick <> p_expected_tick or v_row.version <> p_version then
    perform holdfast.refuse('JOB_NOT_DUE', 'job_not_due', v_details || jsonb_build_object('next_tick', v_row.next_tick));
  end if;

  v_ticks := coalesce(p_ticks, array[v_row.next_tick]);
  v_last := greatest(v_row.next_tick, (select max(t.at) from unnest(v_ticks || p_missed) as t(at)));
  if v_next <= v_last or v_last > v_now or cardinality(v_ticks) > 1000 or cardinality(p_missed) > 1000
    or v_row.next_tick > any (v_ticks || p_missed) then
    perform holdfast.refuse('INVALID_OPTION', 'ticks must be at most 1000, due, and before the next one', v_details
      || jsonb_build_object('next_tick', p_next_tick, 'expected', v_row.next_tick));
  elsif v_row.input_from_code and cardinality(v_ticks) > 0 and p_inputs is null then
    perform holdfast.refuse('INVALID_OPTION', 'code computes the input of this schedule: a worker that has it must fire it',
      v_details);
  end if;

  insert into holdfast.schedule_tick (job_key, tick, state, worker, at)
  select p_job_key, m.tick, 'missed', p_worker, v_now
    from unnest(p_missed) as m(tick)
  on conflict on constraint schedule_tick_pkey do nothing;
  for v_place in 1..cardinality(v_ticks) loop
    v_row.last_job := coalesce(
      holdfast.fire_schedule(v_row, v_ticks[v_place], p_inputs[v_place], p_options[v_place], p_worker, v_row.overlap),
      v_row.last_job);
  end loop;

  update holdfast.schedule as s
     set next_tick = v_next, counts_from = v_last, last_tick = v_last, last_job = v_row.last_job, fault = null,
         locked_by = p_worker,
         locked_until = least(v_next,
           v_now + make_interval(secs => (holdfast.lease_seconds_by_type(array[s.type]) ->> s.type)::integer))
   where s.job_key = p_job_key;
  return query
    select t.tick, t.state, t.job_id
      from holdfast.schedule_tick as t
     where t.job_key = p_job_key
       and t.tick = any (v_ticks || p_missed)
     order by t.tick;
end
$$;

create or replace function holdfast.schedule_claim_next(
  job_key text, worker text, expected_tick timestamptz default null, next_tick timestamptz default null,
  ticks timestamptz[] default null, inputs jsonb[] default null, missed timestamptz[] default null,
  options jsonb[] default null, version bigint default null
)
  returns table (tick timestamptz, state text, job_id bigint)
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  select *
    from holdfast.schedule_claim_next_v1(job_key, worker, expected_tick, next_tick, ticks, inputs, missed, options, version)
$$;
