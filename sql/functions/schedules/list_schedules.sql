-- list_schedules: the schedules in order of their key
--   Guard   none.
--   Locks   none.
--   Returns up to p_n rows after the key p_after.
--   Notifies nothing.
create or replace function holdfast.list_schedules_v1(p_after text default '', p_n integer default 100)
  returns setof holdfast.schedule
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select s.*
    from holdfast.schedule as s
   where s.job_key > p_after
   order by s.job_key
   limit least(greatest(p_n, 1), 1000)
$$;

create or replace function holdfast.list_schedules(after text default '', n integer default 100) returns setof holdfast.schedule
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.list_schedules_v1(after, n) $$;

create or replace function holdfast.find_schedule_v1(p_job_key text) returns setof holdfast.schedule
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select s.* from holdfast.schedule as s where s.job_key = p_job_key $$;

create or replace function holdfast.find_schedule(job_key text) returns setof holdfast.schedule
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.find_schedule_v1(job_key) $$;
