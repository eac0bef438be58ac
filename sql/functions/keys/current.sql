-- current: the current job of a key, which is its latest started one; key_history: all that have started, newest first
--   Guard   none.
--   Locks   none.
--   Returns its row as the view jobs shows it, or none; key_history up to p_n rows, of which the first is the current one.
--   Notifies nothing.
create or replace function holdfast.current_v1(p_key text) returns setof holdfast.jobs
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select v.*
    from holdfast.job_key as k
    join holdfast.jobs as v on v.id = k.current_job
   where k.key = p_key
$$;

create or replace function holdfast.key_history_v1(p_key text, p_n integer default 20) returns setof holdfast.jobs
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select v.*
    from holdfast.jobs as v
   where v.key = p_key
     and v.token > 0
   order by v.token desc
   limit least(greatest(p_n, 1), 1000)
$$;

create or replace function holdfast.current(key text) returns setof holdfast.jobs
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.current_v1(key) $$;

create or replace function holdfast.key_history(key text, n integer default 20) returns setof holdfast.jobs
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.key_history_v1(key, n) $$;
