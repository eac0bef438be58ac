-- ready_row: a job as it stands among the pending ones
--   Guard   none.
--   Locks   none.
--   Returns a row for place_ready, neither parked nor un-parked.
--   Notifies nothing.
--   Tested by  test/sql/places/places.test.ts
-- Without settings, so that PostgreSQL puts the expression into the caller's statement.
create or replace function holdfast.ready_row(
  p_job_id bigint,
  p_type text,
  p_queue text,
  p_priority smallint,
  p_run_at timestamptz,
  p_max_attempts smallint,
  p_token bigint default 0,
  p_key text default null,
  p_key_policy text default null,
  p_rank bigint default null,
  p_linked boolean default false,
  p_attempts smallint default 0::smallint,
  p_crashes smallint default 0::smallint,
  p_coalescing boolean default false
)
  returns holdfast.ready
  language sql immutable parallel safe
as $$
  select row(p_job_id, p_run_at, p_token, p_rank, p_priority, p_attempts, p_max_attempts, p_crashes, false, p_coalescing,
             p_type, p_queue, p_key, p_key_policy, p_linked, false)::holdfast.ready
$$;
