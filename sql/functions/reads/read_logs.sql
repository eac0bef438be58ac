-- read_logs: the lines that a job's handler logged
--   Guard   none.
--   Locks   none.
--   Returns up to p_n lines after the line p_after, in order.
--   Notifies nothing.
create or replace function holdfast.read_logs_v1(p_job_id bigint, p_after bigint default 0, p_n integer default 1000)
  returns table (id bigint, token bigint, at timestamptz, level text, message text, fields jsonb)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select g.id, g.token, g.at, g.level, g.message, g.fields
    from holdfast.job_log as g
   where g.job_id = p_job_id
     and g.id > p_after
   order by g.id
   limit least(greatest(p_n, 1), 1000)
$$;
