-- current: the current job of a key, which is its latest started one
--   Guard   none.
--   Locks   none.
--   Returns its row as the view jobs shows it, or none.
--   Notifies nothing.
create or replace function holdfast.current_v1(p_key text)
  returns setof holdfast.jobs
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select v.*
    from holdfast.job_key as k
    join holdfast.jobs as v on v.id = k.current_job
   where k.key = p_key
$$;

create or replace function holdfast.current(key text)
  returns setof holdfast.jobs
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.current_v1(key)
$$;
