-- latest_jobs: the newest jobs that fit, newest first
--   Guard   none.
--   Locks   none.
--   Gives   up to p_n jobs with an id below p_before, out of the newest 10,000; null asks for
--           any.
--   Tells   nothing.
create or replace function holdfast.latest_jobs_v1(
  p_states text[] default null,
  p_type text default null,
  p_queue text default null,
  p_before bigint default null,
  p_n integer default 50
)
  returns setof holdfast.jobs
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_sort = off
  set jit = off
as $$
  select v.*
    from (
      select n.id
        from (
          select j.id, j.type, j.queue
            from holdfast.job as j
           where j.id < coalesce(p_before, 9223372036854775807)
           order by j.id desc
           limit 10000
        ) as n
       where (p_type is null or n.type = p_type)
         and (p_queue is null or n.queue = p_queue)
       order by n.id desc
    ) as s
   cross join lateral (select w.* from holdfast.jobs as w where w.id = s.id limit 1) as v
   where p_states is null or v.state = any (p_states)
   limit least(greatest(p_n, 1), 1000)
$$;
