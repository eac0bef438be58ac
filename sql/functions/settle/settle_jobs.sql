-- settle_jobs: running → completed | failed | cancelled | pending, a batch of any mix
--   Guard   the caller holds each job's lease, member by member (job id, token, lease id).
--   Locks   key rows in order, then lease rows by id, then as unblock_successors; for suspended jobs the advisory locks of
--           their events, shared and only tried; then, for direct handoff, as claim_by_id.
--   Returns lost: the places, from 1, of the members whose lease was lost; handed: as claim_by_id, the successors that this call
--           made pending and claimed for the caller, at most p_slots of each of p_queues. Repeating a completion or a failure
--           that this very lease has made is settled again (settled_before), for a client that lost the answer.
--   Notifies workers that would sleep past a job's new run_at; sleeping workers of freed keys and of successors.
-- Members: job_id, token, lease_id, outcome (complete, fail, snooze, suspend, release or cancel), and by outcome:
-- complete: output, and next, the members of an enqueue that follow the job in its pipeline; fail: error, and optionally
-- delay_ms and permanent; snooze: delay_ms; suspend: waits, as in suspend_jobs; cancel: reason.
create or replace function holdfast.settle_jobs_v1(
  p_settlements jsonb, p_worker text default '', p_queues text[] default '{}', p_slots integer[] default '{}',
  p_types text[] default '{}',
  out lost integer[], out handed json[]
)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_held integer[];
  v_before integer[] := '{}';
  v_ended bigint[];
  v_states text[];
  v_outputs jsonb[];
  v_errors jsonb[];
  v_failed bigint[];
  v_retry_ats timestamptz[];
  v_returned bigint[];
  v_run_ats timestamptz[];
  v_pending bigint[];
begin
  perform holdfast.check_outcomes(p_settlements);
  v_held := array(select l.place from holdfast.lock_leases(p_settlements) as l);
  v_pending := array(
    select c.id
      from unnest(v_held) as p(place)
     cross join lateral (select p_settlements -> (p.place - 1) as member) as m
     cross join lateral holdfast.chain_jobs_v1((m.member ->> 'job_id')::bigint, (m.member ->> 'token')::bigint,
                          (m.member ->> 'lease_id')::uuid, m.member -> 'next', 'never') as c(id)
     where m.member ->> 'outcome' = 'complete' and m.member ? 'next'
  );
  select array_agg(d.job_id) filter (where d.state is not null), array_agg(d.state) filter (where d.state is not null),
         array_agg(d.output) filter (where d.state is not null), array_agg(d.error) filter (where d.state is not null),
         array_agg(d.job_id) filter (where d.outcome = 'fail' and d.state is null),
         array_agg(d.run_at) filter (where d.outcome = 'fail' and d.state is null),
         array_agg(d.job_id) filter (where d.outcome in ('snooze', 'release')),
         array_agg(d.run_at) filter (where d.outcome in ('snooze', 'release'))
    into v_ended, v_states, v_outputs, v_errors, v_failed, v_retry_ats, v_returned, v_run_ats
    from holdfast.decide_outcomes(p_settlements, v_held) as d;

  -- Ends come first: they may wait for rows of their pipelines, and no other session may wait meanwhile for the locks of events.
  if v_ended is not null then
    v_pending := v_pending || holdfast.end_leases(v_ended, v_states, v_outputs, v_errors, 'never');
  end if;
  if v_failed is not null then
    perform holdfast.return_leases(v_failed, v_retry_ats, 0);
  end if;
  if v_returned is not null then
    perform holdfast.return_leases(v_returned, v_run_ats, 1);
  end if;
  perform holdfast.suspend_leases(p_settlements, v_held);

  if cardinality(v_held) < jsonb_array_length(p_settlements) then
    v_before := holdfast.settled_before(p_settlements, v_held);
    -- A job that was completed in its handler's transaction has made its successors pending there.
    v_pending := v_pending || array(
      select d.job_id
        from holdfast.dependency as d
       where d.depends_on = any (array(
         select (p_settlements -> (b.place - 1) ->> 'job_id')::bigint from unnest(v_before) as b(place)))
    );
  end if;
  if v_pending <> '{}' then
    handed := holdfast.hand_off_jobs(v_pending, p_worker, p_queues, p_slots, p_types);
  end if;
  lost := array(
    select p.place
      from generate_series(1, jsonb_array_length(p_settlements)) as p(place)
     where p.place <> all (v_held || v_before)
  );
end
$$;

create or replace function holdfast.settled_before(p_settlements jsonb, p_held integer[])
  returns integer[]
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
begin
  return array(
    select w.place::integer
      from rows from (
        jsonb_to_recordset(p_settlements) as (job_id bigint, token bigint, lease_id uuid, outcome text)
      ) with ordinality as w(job_id, token, lease_id, outcome, place)
     where w.place <> all (p_held)
       and case w.outcome
             when 'complete' then (
               select o.token = w.token and o.lease_id = w.lease_id and o.state = 'completed'
                 from holdfast.outcome as o
                where o.job_id = w.job_id
                limit 1
             )
             when 'fail' then (
               select a.lease_id = w.lease_id and a.verdict = 'failed'
                 from holdfast.attempt as a
                where a.job_id = w.job_id and a.token = w.token
             )
           end
  );
end
$$;
