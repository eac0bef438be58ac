-- place_fits: whether the place that a job is in fits a filter
--   Guard   none.
--   Locks   none.
--   Returns true when state, worker, error and time fit.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- A job finishes after it was enqueued: the days before are not looked at, nor those from p_before on.
create or replace function holdfast.place_fits(
  p_filter holdfast.job_filter,
  p_job_id bigint,
  p_created_at timestamptz,
  p_before timestamptz
)
  returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce(bool_or(
           (p_filter.states is null or p.state = any (p_filter.states))
             and (p_filter.worker is null or p.locked_by is not distinct from p_filter.worker)
             and (p_filter.error is null
                  or strpos(lower(concat(p.error ->> 'name', ' ', p.error ->> 'message')), lower(p_filter.error)) > 0)
             and (p_filter.since is null or p.at >= p_filter.since)
             and (p_filter.until is null or p.at < p_filter.until)
         ), false)
    from (
      select 'pending' as state, p_created_at as at, null as locked_by, null::jsonb as error
        from holdfast.ready as r
       where r.job_id = p_job_id
      union all
      select 'waiting', p_created_at, null, null from holdfast.waiting as w where w.job_id = p_job_id
      union all
      select 'running', l.locked_at, l.locked_by, null from holdfast.lease as l where l.job_id = p_job_id
      union all
      select o.state, o.finished_at, o.locked_by, o.error
        from holdfast.outcome as o
       where o.job_id = p_job_id
         and o.finished_at >= p_created_at - interval '1 hour'  -- clocks are set back now and then
         and o.finished_at < p_before
    ) as p
$$;
