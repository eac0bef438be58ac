-- match_by_id: looks at the next jobs by id, whatever their state, for those that fit a filter
--   Guard   none.
--   Locks   none.
--   Returns what match_jobs walks on with: the jobs that fit, how many were looked at, and the last of them.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- Of a key or a pipeline it reads that part of its index. The comparison of pairs leaves the planner no other order to read in.
create or replace function holdfast.match_by_id(
  p_filter holdfast.job_filter,
  p_after bigint,
  p_n integer,
  out ids bigint[], out ats timestamptz[], out looked integer, out last_id bigint, out last_at timestamptz
)
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_sort = off
as $$
declare
  v_before constant timestamptz := holdfast.newest_end(p_filter);
  v_next bigint[];
begin
  if p_filter.ids is not null then
    v_next := array(select distinct i.id from unnest(p_filter.ids) as i(id) where i.id < p_after order by i.id desc limit p_n);
  elsif p_filter.key is not null then
    v_next := array(
      select j.id
        from holdfast.job as j
       where j.key >= p_filter.key
         and (j.key, j.id) < (p_filter.key, p_after)
       order by j.key desc, j.id desc
       limit p_n
    );
  elsif p_filter.pipeline_id is not null then
    v_next := array(
      select j.id
        from holdfast.job as j
       where j.pipeline_id >= p_filter.pipeline_id
         and (j.pipeline_id, j.id) < (p_filter.pipeline_id, p_after)
       order by j.pipeline_id desc, j.id desc
       limit p_n
    );
  else
    v_next := array(select j.id from holdfast.job as j where j.id < p_after order by j.id desc limit p_n);
  end if;
  looked := cardinality(v_next);
  last_id := v_next[looked];
  last_at := (select j.created_at from holdfast.job as j where j.id = last_id);

  ids := array(
    select n.id
      from unnest(v_next) with ordinality as n(id, place)
     cross join lateral (select b.* from holdfast.job as b where b.id = n.id limit 1) as j
     where (p_filter.types is null or j.type = any (p_filter.types))
       and (p_filter.queues is null or j.queue = any (p_filter.queues))
       and (p_filter.key is null or j.key = p_filter.key)
       and (p_filter.pipeline_id is null or j.pipeline_id = p_filter.pipeline_id)
       and (p_filter.tags is null or j.tags @> p_filter.tags)
       and (p_filter.input is null or holdfast.input_fits(j.input, p_filter.input))
       and (num_nonnulls(p_filter.states, p_filter.worker, p_filter.error, p_filter.since, p_filter.until) = 0
            or holdfast.place_fits(p_filter, j.id, j.created_at, v_before))
     order by n.place
  );
end
$$;
