-- lock_schedule: locks a schedule for an operator's operation
--   Guard   none.
--   Locks   the schedule row; waits for another operation on the same schedule.
--   Returns the row; raises JOB_UNKNOWN.
--   Notifies nothing.
--   Tested by  test/sql/schedules/update_schedule.test.ts
create or replace function holdfast.lock_schedule(p_job_key text)
  returns holdfast.schedule
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_row holdfast.schedule;
begin
  select s.* into v_row from holdfast.schedule as s where s.job_key = p_job_key for update;
  if not found then
    perform holdfast.refuse('JOB_UNKNOWN', 'job_unknown', jsonb_build_object('job_key', left(p_job_key, 100)));
  end if;
  return v_row;
end
$$;
