-- match_living: the next running, pending or waiting jobs by id, newest first, and which of them fit a filter
--   Guard   none.
--   Locks   none.
--   Returns as match_by_id; for running jobs also when they were claimed.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
create or replace function holdfast.match_living(
  p_filter holdfast.job_filter, p_place text, p_before bigint, p_n integer,
  out ids bigint[], out ats timestamptz[], out n_read integer, out searched_to timestamptz, out next_at timestamptz,
  out next_id bigint
)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_asks_job constant boolean := num_nonnulls(p_filter.tags, p_filter.input) > 0
    or p_place <> 'running' and num_nonnulls(p_filter.since, p_filter.until) > 0;
  v_last bigint;
begin
  with next as materialized (
    (select l.job_id as id, l.type, l.queue, l.locked_by, l.locked_at as at
       from holdfast.lease as l
      where p_place = 'running' and l.job_id < p_before
      order by l.job_id desc
      limit p_n)
    union all
    (select r.job_id, r.type, r.queue, null, null
       from holdfast.ready as r
      where p_place = 'pending' and r.job_id < p_before
      order by r.job_id desc
      limit p_n)
    union all
    (select w.job_id, w.type, w.queue, null, null
       from holdfast.waiting as w
      where p_place = 'waiting' and w.job_id < p_before
      order by w.job_id desc
      limit p_n)
  ),
  judged as (
    select n.id, n.at,
           holdfast.job_fits(p_filter, n.type, n.queue, j.tags, j.input)
             and holdfast.place_fits(p_filter, p_place, coalesce(n.at, j.created_at), n.locked_by, null) as fits
      from next as n
      left join lateral (
        select b.tags, b.input, b.created_at from holdfast.job as b where v_asks_job and b.id = n.id limit 1
      ) as j on true
  )
  select array_agg(u.id order by u.id desc) filter (where u.fits), array_agg(u.at order by u.id desc) filter (where u.fits),
         count(*), min(u.id), min(u.at)
    into ids, ats, n_read, v_last, searched_to
    from judged as u;
  searched_to := coalesce(searched_to, (select j.created_at from holdfast.job as j where j.id = v_last));
  if n_read = p_n then
    next_id := v_last;
  end if;
end
$$;
