-- summarize_job: one job as lists show it
--   Guard   none.
--   Locks   none.
--   Returns its row without input and output; none when there is no such job.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- The moment it finished, where the caller knows it, names the day to read; else all days from its enqueueing to now are read,
-- and an hour more on either side, since clocks are set back now and then. It has no settings of its own, so that it becomes
-- part of the statement that calls it.
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
