-- match_waiting: looks at the next waiting jobs for those that fit a filter
--   Guard   none.
--   Locks   none.
--   Returns what match_jobs walks on with: the jobs that fit, how many were looked at, and the last of them.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
create or replace function holdfast.match_waiting(
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
declare
  v_asks_job constant boolean := num_nonnulls(p_filter.tags, p_filter.input, p_filter.since, p_filter.until) > 0;
begin
  with next as materialized (
    select w.job_id,
           (p_filter.types is null or w.type = any (p_filter.types))
             and (p_filter.queues is null or w.queue = any (p_filter.queues))
             and p_filter.worker is null
             and p_filter.error is null
             and (not v_asks_job
                  or (select (p_filter.tags is null or j.tags @> p_filter.tags)
                               and (p_filter.since is null or j.created_at >= p_filter.since)
                               and (p_filter.until is null or j.created_at < p_filter.until)
                               and (p_filter.input is null or holdfast.input_fits(j.input, p_filter.input))
                        from holdfast.job as j
                       where j.id = w.job_id)) as fits
      from holdfast.waiting as w
     where w.job_id < p_after
     order by w.job_id desc
     limit p_n
  )
  select array_agg(n.job_id order by n.job_id desc) filter (where n.fits), count(*), min(n.job_id)
    into ids, looked, last_id
    from next as n;
  last_at := (select j.created_at from holdfast.job as j where j.id = last_id);
end
$$;
