-- fail_jobs: running → pending | failed
--   Guard   the caller holds each job's lease, member by member (job id, token, lease id).
--   Locks   key rows in order, then lease rows by id.
--   Returns one row per member: settled true, or false with code LEASE_LOST; repeating a failure that this very lease has
--           reported is true again. Attempts left: pending after delay_ms, else after the type's backoff. None left, or
--           permanent: failed. Each makes a row in attempt.
--   Notifies workers that would sleep past the next attempt.
-- Members: job_id, token, lease_id, error, and optionally delay_ms and permanent.
create or replace function holdfast.fail_jobs_v1(p_settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_places integer[];
  v_again bigint[];
  v_run_ats timestamptz[];
  v_final bigint[];
  v_errors jsonb[];
begin
  perform holdfast.check_settlements(p_settlements);

  with held as materialized (
    select distinct on (h.job_id) h.place, h.job_id, p_settlements -> (h.place - 1) as member,
           holdfast.small_error(p_settlements -> (h.place - 1) -> 'error') as error
      from holdfast.lock_leases(p_settlements) as h
  ),
  decided as materialized (
    select h.place, h.error, l.job_id, l.token, l.lease_id, l.attempts, l.locked_by, l.locked_at,
           l.attempts < l.max_attempts and not coalesce((h.member ->> 'permanent')::boolean, false) as is_retried,
           v_now + make_interval(secs => 0.001 * coalesce((h.member ->> 'delay_ms')::double precision, holdfast.backoff_ms(
             coalesce(y.backoff_base_ms, 1000), coalesce(y.backoff_max_ms, 3600000), l.attempts, random()
           ))) as run_at
      from held as h
     cross join lateral (select * from holdfast.lease as b where b.job_id = h.job_id limit 1) as l
      left join holdfast.job_type as y on y.type = l.type
  ),
  told as (
    insert into holdfast.attempt (job_id, token, attempt, verdict, lease_id, worker, started_at, ended_at, error)
    select d.job_id, d.token, d.attempts, 'failed', d.lease_id, d.locked_by, d.locked_at, v_now, d.error
      from decided as d
  )
  select coalesce(array_agg(d.place), '{}'),
         array_agg(d.job_id) filter (where d.is_retried), array_agg(d.run_at) filter (where d.is_retried),
         array_agg(d.job_id) filter (where not d.is_retried), array_agg(d.error) filter (where not d.is_retried)
    into v_places, v_again, v_run_ats, v_final, v_errors
    from decided as d;

  if v_again is not null then
    perform holdfast.return_leases(v_again, v_run_ats, 0);
  end if;
  if v_final is not null then
    perform holdfast.end_leases(v_final, 'failed', null, v_errors);
  end if;

  -- A failure that this lease has reported before left its row in attempt.
  v_places := v_places || array(
    select w.place::integer
      from rows from (
        jsonb_to_recordset(p_settlements) as (job_id bigint, token bigint, lease_id uuid)
      ) with ordinality as w(job_id, token, lease_id, place)
      join holdfast.attempt as a on a.job_id = w.job_id and a.token = w.token and a.lease_id = w.lease_id
     where w.place <> all (v_places)
       and a.verdict = 'failed'
  );
  return query select v.job_id, v.settled, v.code from holdfast.verdicts(p_settlements, v_places) as v;
end
$$;

create or replace function holdfast.fail_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.fail_jobs_v1(settlements)
$$;
