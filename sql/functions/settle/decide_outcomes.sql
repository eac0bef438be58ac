-- decide_outcomes: decides the final state or the next run of each member at p_places; writes the attempts that failed
--   Guard   the caller holds the leases of p_places.
--   Locks   none.
--   Returns one row per such member that is not suspended: its final state with output or error, or no state and when it is due
--           again; null keeps its old place. A failure is final without attempts left or when it is permanent; else the job is
--           due after delay_ms, or after the backoff of its type.
--   Notifies nothing.
--   Tested by  test/sql/settle/fail_jobs.test.ts
-- backoff_ms: the base doubled per attempt, at most the maximum, of which the upper half is left to chance (0 to 1). It is the
-- formula of src/domain/run/backoff.ts, in doubles and rounded as JavaScript does; a numeric would lose digits first.
create or replace function holdfast.decide_outcomes(p_settlements jsonb, p_places integer[])
  returns table (job_id bigint, outcome text, state text, output jsonb, error jsonb, run_at timestamptz)
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
begin
  return query
    with held as materialized (
      select m.*
        from unnest(p_places) as p(place)
       cross join lateral jsonb_to_record(p_settlements -> (p.place - 1))
          as m(job_id bigint, outcome text, output jsonb, error jsonb, reason text, delay_ms double precision, permanent boolean)
    ),
    failed as materialized (
      select h.job_id, l.token, l.lease_id, l.attempts, l.locked_by, l.locked_at, holdfast.small_error(h.error) as error,
             case when l.attempts < l.max_attempts and h.permanent is not true then coalesce(h.delay_ms, holdfast.backoff_ms(
               coalesce(y.backoff_base_ms, 1000), coalesce(y.backoff_max_ms, 3600000), l.attempts, random()
             )) end as delay_ms
        from held as h
       cross join lateral (select * from holdfast.lease as b where b.job_id = h.job_id limit 1) as l
        left join holdfast.job_type as y on y.type = l.type
       where h.outcome = 'fail'
    ),
    written as (
      insert into holdfast.attempt (job_id, token, attempt, verdict, lease_id, worker, started_at, ended_at, error)
      select f.job_id, f.token, f.attempts, 'failed', f.lease_id, f.locked_by, f.locked_at, v_now, f.error
        from failed as f
    )
    select f.job_id, 'fail', case when f.delay_ms is null then 'failed' end, null::jsonb, f.error,
           v_now + make_interval(secs => 0.001 * f.delay_ms)
      from failed as f
    union all
    select h.job_id, h.outcome, case h.outcome when 'complete' then 'completed' when 'cancel' then 'cancelled' end,
           case when h.outcome = 'complete' then nullif(h.output, 'null') end,
           case when h.outcome = 'cancel' then jsonb_build_object('name', 'Cancelled', 'message',
             left(coalesce(h.reason, 'cancelled by its handler'), 1000)) end,
           case when h.outcome = 'snooze' then v_now + make_interval(secs => 0.001 * coalesce(h.delay_ms, 0)) end
      from held as h
     where h.outcome in ('complete', 'cancel', 'snooze', 'release');
end
$$;

create or replace function holdfast.backoff_ms(p_base_ms bigint, p_max_ms bigint, p_attempt integer, p_chance double precision)
  returns bigint
  language sql immutable parallel safe
as $$
  select floor(
    least(p_max_ms::double precision, p_base_ms::double precision * power(2::double precision, least(p_attempt - 1, 60)))
    * (0.5 + 0.5 * p_chance) + 0.5
  )::bigint
$$;
