-- append_logs: keeps lines that a handler logged
--   Guard   none: a line of a run that has lost its job is still true. At most 1,000 lines of a job are kept, the latest.
--   Locks   none.
--   Gives   nothing.
--   Tells   nothing.
-- Members: job_id, token, level, message, fields, at.
create or replace function holdfast.append_logs_v1(p_lines jsonb)
  returns void
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  with kept as (
    insert into holdfast.job_log (job_id, token, at, level, message, fields)
    select w.job_id, w.token, w.at, w.level, left(w.message, 2000), w.fields
      from jsonb_to_recordset(p_lines) as w(job_id bigint, token bigint, at timestamptz, level text, message text, fields jsonb)
     where exists (select from holdfast.job as j where j.id = w.job_id)
    returning job_log.job_id
  )
  delete from holdfast.job_log as g
   where g.id in (
     select o.id
       from (select distinct k.job_id from kept as k) as k
      cross join lateral (
        select g.id from holdfast.job_log as g where g.job_id = k.job_id order by g.id desc offset 1000
      ) as o
   )
$$;
