-- find_schedule: one schedule
--   Guard   none.
--   Locks   none.
--   Returns its row, or none.
--   Notifies nothing.
create or replace function holdfast.find_schedule_v1(p_job_key text)
  returns setof holdfast.schedule
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select s.* from holdfast.schedule as s where s.job_key = p_job_key
$$;

create or replace function holdfast.find_schedule(job_key text)
  returns setof holdfast.schedule
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.find_schedule_v1(job_key)
$$;
