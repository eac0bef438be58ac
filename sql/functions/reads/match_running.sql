-- match_running: looks at the next running jobs for those that fit a filter
--   Guard   none.
--   Locks   none.
--   Returns what match_jobs walks on with: the jobs that fit, how many were looked at, and the last of them.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
create or replace function holdfast.match_running(
  p_filter holdfast.job_filter,
  p_after bigint,
  p_n integer,
  out ids bigint[], out ats timestamptz[], out looked integer, out last_id bigint, out last_at timestamptz
)
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_sort = off
as $$
begin
  with next as materialized (
    select l.job_id, l.locked_at,
           (p_filter.types is null or l.type = any (p_filter.types))
             and (p_filter.queues is null or l.queue = any (p_filter.queues))
             and (p_filter.worker is null or l.locked_by = p_filter.worker)
             and p_filter.error is null
             and (p_filter.since is null or l.locked_at >= p_filter.since)
             and (p_filter.until is null or l.locked_at < p_filter.until)
             and (p_filter.tags is null and p_filter.input is null
                  or (select (p_filter.tags is null or j.tags @> p_filter.tags)
                               and (p_filter.input is null or holdfast.input_fits(j.input, p_filter.input))
                        from holdfast.job as j
                       where j.id = l.job_id)) as fits
      from holdfast.lease as l
     where l.job_id < p_after
     order by l.job_id desc
     limit p_n
  )
  select array_agg(n.job_id order by n.job_id desc) filter (where n.fits),
         array_agg(n.locked_at order by n.job_id desc) filter (where n.fits),
         count(*), min(n.job_id), min(n.locked_at)
    into ids, ats, looked, last_id, last_at
    from next as n;
end
$$;
