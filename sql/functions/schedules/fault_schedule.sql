-- fault_schedule: records why a worker could not fire or plan a schedule
--   Guard   the schedule is still as it was read: version and next tick.
--   Locks   the schedule row, skip locked.
--   Returns true when it is recorded. The tick stays due; the schedule is locked for a second, then two, up to a minute.
--   Notifies nothing.
create or replace function holdfast.fault_schedule_v1(
  p_job_key text, p_version bigint, p_tick timestamptz, p_worker text, p_error jsonb
)
  returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_row holdfast.schedule;
  v_times integer;
begin
  select s.*
    into v_row
    from holdfast.schedule as s
   where s.job_key = p_job_key
     and s.version = p_version
     and s.next_tick is not distinct from p_tick
     for update skip locked;
  if not found then
    return false;
  end if;
  v_times := case
    when (v_row.fault ->> 'tick')::timestamptz is not distinct from p_tick and v_row.fault is not null
    then (v_row.fault ->> 'times')::integer + 1
    else 1
  end;
  update holdfast.schedule as s
     set fault = jsonb_build_object('tick', p_tick, 'at', v_now, 'worker', p_worker, 'times', v_times,
           'error', holdfast.small_error(p_error)),
         locked_by = p_worker,
         locked_until = v_now + make_interval(secs => least(60, power(2, least(v_times - 1, 6))))
   where s.job_key = p_job_key;
  return true;
end
$$;
