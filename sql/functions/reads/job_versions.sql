-- job_versions: texts that a live view compares to know whether jobs have changed
--   Guard   at most 1,000 ids.
--   Locks   none.
--   Returns for each job that exists a text that differs after every change, the id of its last log line (0: none), and a text
--           that differs when a durable step was stored or the handler waits for something else ('0.0': neither).
--   Notifies nothing.
-- The text names the place and the transactions that wrote the rows, so that no write has to count versions.
create or replace function holdfast.job_versions_v1(p_job_ids bigint[])
  returns table (id bigint, version text, last_log bigint, steps text)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off  -- a small day would be read whole for each job
as $$
begin
  if cardinality(p_job_ids) > 1000 then
    perform holdfast.refuse('INVALID_OPTION', 'at most 1,000 jobs at a time',
      jsonb_build_object('received', cardinality(p_job_ids)));
  end if;
  return query
    select j.id, concat(p.version, '.', j.version), coalesce(g.last_log, 0), k.steps
      from (select distinct u.id from unnest(p_job_ids) as u(id)) as w
     cross join lateral (
       select b.id, b.xmin::text as version, b.created_at from holdfast.job as b where b.id = w.id limit 1
     ) as j
      left join lateral (
        select 'p' || r.xmin::text as version from holdfast.ready as r where r.job_id = j.id
        union all
        select 'w' || h.xmin::text from holdfast.waiting as h where h.job_id = j.id
        union all
        select 'r' || l.xmin::text from holdfast.lease as l where l.job_id = j.id
        union all
        select 'f' || o.xmin::text
          from holdfast.outcome as o
         where o.job_id = j.id
           and o.finished_at >= j.created_at - interval '1 hour'  -- earlier days are not read
        limit 1
      ) as p on true
      left join lateral (
        select l.id as last_log from holdfast.job_log as l where l.job_id = j.id order by l.id desc limit 1
      ) as g on true
     cross join lateral (
       select concat_ws('.', count(*), count(*) filter (where s.is_open or s.kind = 'sleep' and s.wake_at > holdfast.now()),
                        (extract(epoch from max(s.at)) * 1000000)::bigint) as steps
         from holdfast.durable_step as s
        where s.job_id = j.id
     ) as k
     order by j.id;
end
$$;
