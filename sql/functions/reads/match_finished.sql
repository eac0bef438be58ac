-- match_finished: the next finished jobs of one day, newest first, and which of them fit a filter
--   Guard   none.
--   Locks   none.
--   Returns as match_by_id, and when each job finished.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- One day, so that one partition is read. Completed jobs have an index of their own, each other state a range of another one.
create or replace function holdfast.match_finished(
  p_filter holdfast.job_filter, p_at timestamptz, p_before bigint, p_n integer,
  out ids bigint[], out ats timestamptz[], out n_read integer, out searched_to timestamptz, out next_at timestamptz,
  out next_id bigint
)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_day constant timestamptz := holdfast.finished_day(case when p_before > 0 then p_at + interval '1 microsecond' else p_at end);
  v_from constant timestamptz := greatest(v_day, p_filter.since);
  v_to constant timestamptz := v_day + interval '1 day';
  v_asks_completed constant boolean := p_filter.states is null or 'completed' = any (p_filter.states);
  v_others constant text[] := array_remove(coalesce(p_filter.states, array['failed', 'cancelled', 'superseded']), 'completed');
  v_asks_job constant boolean := num_nonnulls(p_filter.types, p_filter.queues, p_filter.tags, p_filter.input) > 0;
begin
  n_read := 0;
  if v_day is null or v_to <= p_filter.since then
    return;
  end if;
  with next as materialized (
    (select o.job_id, o.finished_at, o.state, o.locked_by, o.error
       from holdfast.outcome as o
      where v_asks_completed
        and o.state = 'completed'
        and o.finished_at >= v_from
        and o.finished_at < v_to
        and (o.finished_at, o.job_id) < (p_at, p_before)
      order by o.finished_at desc, o.job_id desc
      limit p_n)
    union all
    (select f.*
       from unnest(v_others) as s(state)
      cross join lateral (
        select o.job_id, o.finished_at, o.state, o.locked_by, o.error
          from holdfast.outcome as o
         where o.state = s.state
           and o.state <> 'completed'
           and o.finished_at >= v_from
           and o.finished_at < v_to
           and (o.finished_at, o.job_id) < (p_at, p_before)
         order by o.finished_at desc, o.job_id desc
         limit p_n
      ) as f)
     order by finished_at desc, job_id desc
     limit p_n
  ),
  judged as (
    select n.job_id as id, n.finished_at as at,
           holdfast.job_fits(p_filter, j.type, j.queue, j.tags, j.input)
             and holdfast.place_fits(p_filter, n.state, n.finished_at, n.locked_by, n.error) as fits
      from next as n
      left join lateral (
        select b.type, b.queue, b.tags, b.input from holdfast.job as b where v_asks_job and b.id = n.job_id limit 1
      ) as j on true
  )
  select array_agg(u.id order by u.at desc, u.id desc) filter (where u.fits),
         array_agg(u.at order by u.at desc, u.id desc) filter (where u.fits),
         count(*), min(u.at), (array_agg(u.id order by u.at, u.id))[1]
    into ids, ats, n_read, searched_to, next_id
    from judged as u;
  next_at := searched_to;
  if n_read < p_n then
    next_at := v_day;
    next_id := 0;
  end if;
end
$$;

-- The newest day that may have outcomes from before a moment. A day without its own partition can only be in the default one.
create or replace function holdfast.finished_day(p_before timestamptz) returns timestamptz
  language sql stable set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'
as $$
  select greatest(
    (select max(d.day)
       from pg_catalog.pg_inherits as i
       join pg_catalog.pg_class as c on c.oid = i.inhrelid
      cross join lateral (select to_date(right(c.relname, 8), 'YYYYMMDD')::timestamptz) as d(day)
      where i.inhparent = 'holdfast.outcome'::regclass
        and c.relname ~ '^outcome_\d{8}$'
        and d.day < p_before),
    (select date_trunc('day', max(d.finished_at)) from holdfast.outcome_default as d
      where d.state = 'completed' and d.finished_at < p_before),
    (select date_trunc('day', max(o.finished_at))
       from unnest(array['failed', 'cancelled', 'superseded']) as s(state)
      cross join lateral (
        select d.finished_at
          from holdfast.outcome_default as d
         where d.state = s.state
           and d.state <> 'completed'
           and d.finished_at < p_before
         order by d.finished_at desc
         limit 1
      ) as o)
  )
$$;
