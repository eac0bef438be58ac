-- find_job: one job as the view jobs shows it
--   Guard   none.
--   Locks   none.
--   Returns its row, or none.
--   Notifies nothing.
create or replace function holdfast.find_job_v1(p_job_id bigint) returns setof holdfast.jobs
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.jobs as v where v.id = p_job_id $$;

create or replace function holdfast.find_job(job_id bigint) returns setof holdfast.jobs
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.find_job_v1(job_id) $$;
