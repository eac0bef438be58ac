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

create or replace function holdfast.state_of(p_job_id bigint) returns text
  language sql stable set search_path = pg_catalog, pg_temp
as $$ select p.state from holdfast.place_of(p_job_id, '-infinity', 'infinity') as p limit 1 $$;

-- One job as lists show it, without input and output. The moment it finished, where the caller knows it, names the day to read;
-- else all days from its enqueueing to now are read, and an hour more on either side, since clocks are set back now and then.
create or replace function holdfast.summarize_job(p_job_id bigint, p_finished_at timestamptz, p_now timestamptz)
  returns table (
    id bigint, type text, queue text, priority smallint, state text, key text, key_policy text, attempts smallint,
    max_attempts smallint, progress real, status_message text, error_name text, error_message text, locked_by text,
    locked_at timestamptz, parked boolean, pipeline_id uuid, tags text[], created_at timestamptz, run_at timestamptz,
    finished_at timestamptz, step text
  )
  language sql stable
as $$
  select j.id, j.type, j.queue, j.priority, p.state, j.key, j.key_policy, p.attempts, j.max_attempts, p.progress,
         p.status_message, left(p.error ->> 'name', 200), left(p.error ->> 'message', 500), p.locked_by, p.locked_at, p.parked,
         j.pipeline_id, j.tags, j.created_at, coalesce(p.run_at, j.created_at), p.finished_at,
         case when j.pipeline_id is not null then (select s.name from holdfast.pipeline_step as s where s.job_id = p_job_id) end
    from holdfast.job as j
   cross join lateral holdfast.place_of(
     p_job_id, coalesce(p_finished_at, j.created_at - interval '1 hour'), coalesce(p_finished_at, p_now + interval '1 hour')
   ) as p
   where j.id = p_job_id
$$;
