-- scan_queue: pending → running, walking through one queue
--   Guard   due, type wanted, queue not paused, attempts left; a keyed job only with its key (claim_keyed).
--   Locks   ready rows in claim order, skip locked; never waits.
--   Returns up to p_n claimed jobs in claim order, the position (o_…) behind which the caller may go on, whether it left jobs
--           of held keys unparked, which the next look from the start goes on with, and if the jobs differ in nothing else,
--           when each was due.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_jobs.test.ts
-- Within the queue: priority, then run_at, then id. Dead index entries before a position (p_from_…) cost nothing. Who goes on
-- behind one must still look from the start from time to time, for retries, late commits and urgent jobs; what a freed key has
-- un-parked before it is taken first. Where a row without a key names an open transaction, its lock is not tried; behind
-- a position not even where it names a recent one, and a claim of many does not walk over the most of such rows (pass_by); with
-- p_passes_crowds nor over the long backlog of a held key.
create or replace function holdfast.scan_queue(
  p_worker text,
  p_queue text,
  p_types text[],
  p_n integer,
  p_from_priority integer,
  p_from_run_at timestamptz,
  p_from_job_id bigint,
  p_lease_id uuid,
  p_leases jsonb,
  p_passes_crowds boolean,
  out o_ids bigint[],
  out o_priority integer,
  out o_run_at timestamptz,
  out o_job_id bigint,
  out o_has_more boolean,
  out o_due_ms bigint[]
)
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off        -- dead rows of a busy table are not worth a walk
  set enable_bitmapscan = off
  set enable_sort = off           -- the claim index has the order; a sort would read the whole backlog
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_open_age constant integer := age(pg_snapshot_xmin(pg_current_snapshot())::xid);  -- what is older than this has ended
  v_open constant xid[] := array(select x::xid from pg_snapshot_xip(pg_current_snapshot()) as x where p_from_job_id = 0);
  v_budget integer := p_n + 1000;  -- rows met in one call, claimed or parked, so that a call stays short
  v_priority integer;
  v_run_at timestamptz;
  v_job_id bigint;
  v_limit integer;
  v_met integer;
  v_places tid[];
  v_claimed bigint[];
  v_keyed bigint[];
  v_are_alike boolean;
  v_passes_by boolean;
  v_shut text[] := '{}';     -- keys that another transaction has locked: their jobs can be neither claimed nor parked now
  v_crowded text[] := '{}';  -- held keys with more jobs than could be parked at once
  v_passed text[] := '{}';   -- both: their other jobs are passed by
begin
  o_priority := p_from_priority;
  o_run_at := p_from_run_at;
  o_job_id := p_from_job_id;
  o_ids := case when p_from_job_id = 0 then '{}' else
    holdfast.claim_unparked(p_worker, p_queue, p_types, p_n, p_from_priority, p_from_run_at, p_from_job_id, p_lease_id, v_now,
                            p_leases) end;

  -- One look for all priorities: a claim that finds little must not ask ten times. Behind a position the caller's own
  -- priority is taken unasked, since the look would meet the dead entries that the position spares it.
  for v_priority in
    select p.priority
      from generate_series(p_from_priority, 9) as p(priority)
     where not exists (select from holdfast.queue as q where q.name = p_queue and q.paused_at is not null)
       and (p.priority = p_from_priority and p_from_job_id > 0
         or (
           select true  -- a scalar with a limit, which the planner cannot turn into a join over the whole backlog
             from holdfast.ready as r
            where r.queue = p_queue
              and r.priority = p.priority
              and not r.parked
              and r.crashes < 2
              and r.run_at <= v_now
            limit 1
         ))
  loop
    v_run_at := case when v_priority = p_from_priority then p_from_run_at else '-infinity' end;
    v_job_id := case when v_priority = p_from_priority then p_from_job_id else 0 end;
    v_passes_by := v_job_id > 0 and p_n > 100;
    loop
      v_limit := least(p_n - cardinality(o_ids), v_budget);
      exit when v_limit <= 0;
      if v_passes_by then
        select p.* into v_run_at, v_job_id
          from holdfast.pass_by(p_queue, p_types, v_priority, v_run_at, v_job_id, v_now, v_open_age, v_crowded) as p;
      end if;
      select count(*), array_agg(m.place) filter (where m.key is null), array_agg(m.job_id) filter (where m.key is null),
             array_agg(m.job_id) filter (where m.key is not null), max(m.run_at),
             array_agg((date_part('epoch', m.run_at) * 1000)::bigint),
             max(m.token) = 0 and min(m.max_attempts) = max(m.max_attempts) and min(m.type) = max(m.type)
        into v_met, v_places, v_claimed, v_keyed, v_run_at, o_due_ms, v_are_alike
        from (
          select r.ctid as place, r.job_id, r.run_at, r.key, r.token, r.max_attempts, r.type collate "C" as type
            from holdfast.ready as r
           where r.queue = p_queue
             and r.priority = v_priority
             and not r.parked
             and r.crashes < 2  -- a suspect runs alone: claim_quarantined
             and r.run_at <= v_now
             and (r.run_at, r.job_id) > (v_run_at, v_job_id)
             and (r.key is null or r.key <> all (v_passed))
             and r.type = any (p_types)
             and (r.xmax = 0 or age(r.xmax) > v_open_age or r.key is not null or p_from_job_id = 0 and r.xmax <> all (v_open))
           order by r.run_at, r.job_id
           limit v_limit
             for update skip locked
        ) as m;
      exit when v_met = 0;
      v_budget := v_budget - v_met;
      v_job_id := case when v_keyed is null then v_claimed[v_met] else (
        select max(r.job_id) from holdfast.ready as r where r.job_id = any (v_claimed || v_keyed) and r.run_at = v_run_at
      ) end;
      -- Alike: a job that was never claimed, so that its token is 0, has had no attempt either.
      o_due_ms := case when o_ids = '{}' and v_are_alike and v_keyed is null then o_due_ms end;
      if v_places is not null then
        perform holdfast.claim_unkeyed(v_places, p_worker, p_lease_id, v_now, p_leases);
      end if;
      if v_keyed is not null then
        v_claimed := v_claimed || holdfast.claim_keyed(v_keyed, p_worker, array[p_queue], p_types, p_lease_id, v_now, p_leases);
        v_claimed := array(select l.job_id from holdfast.lease as l where l.job_id = any (v_claimed) order by l.run_at, l.job_id);
        -- With each held key up to 1,000 jobs of its backlog were parked: a few such batches are enough for one call.
        select v_shut || k.o_shut, v_crowded || k.o_crowded, v_budget - case when k.o_has_parked then 250 else 0 end
          into v_shut, v_crowded, v_budget from holdfast.keys_still_locked(v_keyed, v_now) as k;
        v_passed := v_shut || v_crowded;
      end if;
      v_passes_by := v_keyed is not null and p_passes_crowds and v_crowded <> '{}';
      o_ids := o_ids || v_claimed;
      -- Jobs of a shut key are still pending: the next claim must meet them again.
      if v_shut = '{}' then
        o_priority := v_priority;
        o_run_at := v_run_at;
        o_job_id := v_job_id;
      end if;
      exit when v_met < v_limit;
    end loop;
  end loop;

  if o_ids = '{}' and v_crowded <> '{}' then
    v_crowded := holdfast.park_crowd(v_crowded, v_now);
  end if;
  o_has_more := v_budget <= 0 or v_crowded <> '{}';
end
$$;
