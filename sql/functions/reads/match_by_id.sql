-- match_by_id: the next jobs by id, newest first, whatever their state, and which of them fit a filter
--   Guard   none.
--   Locks   none.
--   Returns the jobs that fit; how many were read; the moment of the last of them; and where the next step begins, a null id
--           when no job is left.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- For a key or a pipeline it reads that part of the index. The comparison of pairs leaves the planner no other order.
create or replace function holdfast.match_by_id(
  p_filter holdfast.job_filter, p_until timestamptz, p_before bigint, p_n integer,
  out ids bigint[], out ats timestamptz[], out n_read integer, out searched_to timestamptz, out next_at timestamptz,
  out next_id bigint
)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_asks_place constant boolean :=
    num_nonnulls(p_filter.states, p_filter.worker, p_filter.error, p_filter.since, p_filter.until) > 0;
  v_next bigint[];
begin
  if p_filter.ids is not null then
    v_next := array(select distinct i.id from unnest(p_filter.ids) as i(id) where i.id < p_before order by i.id desc limit p_n);
  elsif p_filter.key is not null then
    v_next := array(
      select j.id
        from holdfast.job as j
       where j.key >= p_filter.key
         and (j.key, j.id) < (p_filter.key, p_before)
       order by j.key desc, j.id desc
       limit p_n
    );
  elsif p_filter.pipeline_id is not null then
    v_next := array(
      select j.id
        from holdfast.job as j
       where j.pipeline_id >= p_filter.pipeline_id
         and (j.pipeline_id, j.id) < (p_filter.pipeline_id, p_before)
       order by j.pipeline_id desc, j.id desc
       limit p_n
    );
  else
    v_next := array(select j.id from holdfast.job as j where j.id < p_before order by j.id desc limit p_n);
  end if;
  n_read := cardinality(v_next);
  searched_to := (select j.created_at from holdfast.job as j where j.id = v_next[n_read]);
  if n_read = p_n then
    next_id := v_next[n_read];
  end if;

  ids := array(
    select n.id
      from unnest(v_next) with ordinality as n(id, turn)
     cross join lateral (select b.* from holdfast.job as b where b.id = n.id limit 1) as j
     where holdfast.job_fits(p_filter, j.type, j.queue, j.tags, j.input)
       and (p_filter.key is null or j.key = p_filter.key)
       and (p_filter.pipeline_id is null or j.pipeline_id = p_filter.pipeline_id)
       and (not v_asks_place or exists (
         select
           from holdfast.place_of(n.id, j.created_at - interval '1 hour', p_until) as p
          where holdfast.place_fits(p_filter, p.state, coalesce(p.finished_at, p.locked_at, j.created_at), p.locked_by, p.error)
       ))
     order by n.turn
  );
  ats := array_fill(null::timestamptz, array[cardinality(ids)]);
end
$$;
