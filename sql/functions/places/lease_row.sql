-- lease_row: a job as it stands among the running ones when it has just been claimed
--   Guard   none.
--   Locks   none.
--   Returns a row for place_leases, one attempt further than the ready row.
--   Notifies nothing.
--   Tested by  test/sql/places/place_leases.test.ts
-- Without settings, so that PostgreSQL puts the expression into the caller's statement.
create or replace function holdfast.lease_row(
  p_ready holdfast.ready,
  p_token bigint,
  p_worker text,
  p_lease_id uuid,
  p_now timestamptz,
  p_until timestamptz
)
  returns holdfast.lease
  language sql immutable parallel safe
as $$
  select row(p_ready.job_id, p_ready.run_at, p_token, p_ready.rank, p_now, p_until, p_lease_id, p_ready.priority,
             p_ready.attempts + 1, p_ready.max_attempts, p_ready.crashes, null, p_ready.type, p_ready.queue, p_worker,
             p_ready.key, p_ready.key_policy, null, p_ready.linked)::holdfast.lease
$$;
