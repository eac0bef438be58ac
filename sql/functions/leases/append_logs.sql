-- append_logs: stores lines that a handler logged
--   Guard   none: a line of a run that has lost its lease is still true. Each job keeps its latest 1,000 lines.
--   Locks   none.
--   Returns nothing; lines of a deleted job are dropped.
--   Notifies nothing.
-- Members: job_id, token, level, message, fields, at.
create or replace function holdfast.append_logs_v1(p_lines jsonb)
  returns void
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids constant bigint[] := array(
    select j.id
      from holdfast.job as j
     where j.id = any (array(select w.job_id from jsonb_to_recordset(p_lines) as w(job_id bigint)))
  );
begin
  insert into holdfast.job_log (job_id, token, at, level, message, fields)
  select w.job_id, w.token, w.at, w.level, left(w.message, 2000), w.fields
    from rows from (
      jsonb_to_recordset(p_lines)
        as (job_id bigint, token bigint, at timestamptz, level text, message text, fields jsonb)
    ) with ordinality as w(job_id, token, at, level, message, fields, place)
   where w.job_id = any (v_ids)
   order by w.place;

  delete from holdfast.job_log as g
   where g.id = any (array(
     select o.id
       from unnest(v_ids) as k(job_id)
      cross join lateral (
        select g.id from holdfast.job_log as g where g.job_id = k.job_id order by g.id desc offset 1000
      ) as o
   ));
end
$$;
