-- place_outcomes: puts jobs into their final state; outcome_row: such a row, of the place that a job leaves
--   Guard   the caller holds the rows of these jobs in the place that they leave, and drops them there.
--   Locks   none.
--   Returns nothing.
--   Notifies nothing.
--   Tested by  test/sql/places/places.test.ts
-- One row goes in as values, as in place_jobs. It runs with the settings of its callers.
create or replace function holdfast.place_outcomes(p_rows holdfast.outcome[]) returns void
  language plpgsql volatile
as $$
declare
  v_first constant holdfast.outcome := p_rows[1];
begin
  if cardinality(p_rows) = 1 then
    insert into holdfast.outcome values (v_first.*);
  else
    insert into holdfast.outcome select o.* from unnest(p_rows) as o;
  end if;
end
$$;

create or replace function holdfast.outcome_row(
  p_row holdfast.lease, p_state text, p_now timestamptz, p_output jsonb default null, p_error jsonb default null
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
as $$ select row(p_row.job_id, p_row.token, p_now, null, p_now, null, 0, p_state, null, null, p_error)::holdfast.outcome $$;
