-- outcome_row: the outcome of a job that leaves the place of p_row
--   Guard   none.
--   Locks   none.
--   Returns a row for place_outcomes.
--   Notifies nothing.
--   Tested by  test/sql/places/places.test.ts
-- Without settings, so that PostgreSQL puts the expression into the caller's statement.
create or replace function holdfast.outcome_row(
  p_row holdfast.lease,
  p_state text,
  p_now timestamptz,
  p_output jsonb default null,
  p_error jsonb default null
)
  returns holdfast.outcome
  language sql immutable parallel safe
as $$
  select row(p_row.job_id, p_row.token, p_row.run_at, p_row.locked_at, p_now, p_row.lease_id, p_row.attempts, p_state,
             p_row.locked_by, p_output, p_error)::holdfast.outcome
$$;

create or replace function holdfast.outcome_row(p_row holdfast.ready, p_state text, p_now timestamptz, p_error jsonb)
  returns holdfast.outcome
  language sql immutable parallel safe
as $$
  select row(p_row.job_id, p_row.token, p_row.run_at, null, p_now, null, p_row.attempts, p_state, null, null,
             p_error)::holdfast.outcome
$$;

create or replace function holdfast.outcome_row(p_row holdfast.waiting, p_state text, p_now timestamptz, p_error jsonb)
  returns holdfast.outcome
  language sql immutable parallel safe
as $$
  select row(p_row.job_id, p_row.token, p_now, null, p_now, null, 0, p_state, null, null, p_error)::holdfast.outcome
$$;
