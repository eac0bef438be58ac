-- job_row: a job as it is stored for good
--   Guard   none.
--   Locks   none.
--   Returns a row for place_jobs.
--   Notifies nothing.
--   Tested by  test/sql/places/place_jobs.test.ts
-- Without settings, so that PostgreSQL puts the expression into the caller's statement.
create or replace function holdfast.job_row(
  p_id bigint,
  p_type text,
  p_queue text,
  p_priority smallint,
  p_max_attempts smallint,
  p_pipeline_id uuid,
  p_tags text[],
  p_input jsonb,
  p_now timestamptz,
  p_trace text,
  p_key text default null,
  p_key_policy text default null,
  p_dedupe_id text default null
)
  returns holdfast.job
  language sql immutable parallel safe
as $$
  select row(p_id, p_type, p_queue, p_priority, p_max_attempts, p_key, p_key_policy, p_pipeline_id, p_tags, p_dedupe_id,
             p_input, p_now, p_trace)::holdfast.job
$$;
