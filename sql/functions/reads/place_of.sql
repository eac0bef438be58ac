-- place_of: the place that a job is in, and its row there; state_of: the state alone
--   Guard   none.
--   Locks   none.
--   Returns one row; none, and no state, when there is no such job.
--   Notifies nothing.
--   Tested by  test/sql/shared/matrix.test.ts
-- A finished job is searched from p_from to p_to, which names the days to read. It has no settings of its own, so that it
-- becomes part of the statement that calls it.
create or replace function holdfast.place_of(p_job_id bigint, p_from timestamptz, p_to timestamptz)
  returns table (
    state text, attempts smallint, progress real, status_message text, error jsonb, locked_by text, locked_at timestamptz,
    parked boolean, run_at timestamptz, finished_at timestamptz
  )
  language sql stable
as $$
  select 'pending', r.attempts, null::real, null, null::jsonb, null, null::timestamptz, r.parked, r.run_at, null::timestamptz
    from holdfast.ready as r
   where r.job_id = p_job_id
  union all
  select 'waiting', 0::smallint, null, null, null, null, null, false, null, null
    from holdfast.waiting as w
   where w.job_id = p_job_id
  union all
  select 'running', l.attempts, l.progress, l.status_message, null, l.locked_by, l.locked_at, false, l.run_at, null
    from holdfast.lease as l
   where l.job_id = p_job_id
  union all
  select o.state, o.attempts, null, null, o.error, o.locked_by, o.locked_at, false, o.run_at, o.finished_at
    from holdfast.outcome as o
   where o.job_id = p_job_id
     and o.finished_at >= p_from
     and o.finished_at <= p_to
$$;

create or replace function holdfast.state_of(p_job_id bigint)
  returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select p.state from holdfast.place_of(p_job_id, '-infinity', 'infinity') as p limit 1
$$;
