-- scan_queue: pending → running for the next due jobs of one queue
--   Guard   due, type wanted, queue not paused, attempts left; a keyed job only with its key (claim_keyed).
--   Locks   ready rows in claim order, skip locked; never waits.
--   Returns the leases of up to p_n jobs; the position up to which nothing is left to claim; has_more: it stopped early.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_jobs.test.ts
-- The position spares a claim the dead index entries before it. Retries and late commits need a sweep: a claim from the head.
create or replace function holdfast.scan_queue(
  p_queue text, p_types text[], p_n integer, p_from_priority integer, p_from_run_at timestamptz, p_from_job_id bigint,
  p_worker text, p_lease_id uuid, p_lease_seconds jsonb,
  out leases holdfast.lease[], out priority integer, out run_at timestamptz, out job_id bigint, out has_more boolean
)
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
  set enable_seqscan = off
  set enable_bitmapscan = off  -- it would read the whole backlog where the claim index has the order
  set plan_cache_mode = force_generic_plan  -- a plan for each claim takes longer than a claim of few jobs
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_budget integer := p_n + 1000;  -- rows to lock in one call, so that it stays short
  v_priority smallint;
  v_run_at timestamptz;
  v_job_id bigint;
  v_limit integer;
  v_met record;
  v_keyed record;
  v_locked_keys text[] := '{}';
  v_held_keys text[] := '{}';  -- the rest of their backlog is skipped in this call, and parked by later sweeps
begin
  priority := p_from_priority;
  run_at := p_from_run_at;
  job_id := p_from_job_id;
  leases := case when job_id = 0 then '{}' else
    holdfast.claim_unparked(p_queue, p_types, p_n, priority, run_at, job_id, p_worker, p_lease_id, v_now, p_lease_seconds) end;

  foreach v_priority in array holdfast.due_priorities(p_queue, p_from_priority, p_from_job_id, v_now) loop
    v_run_at := case when v_priority = p_from_priority then p_from_run_at else '-infinity' end;
    v_job_id := case when v_priority = p_from_priority then p_from_job_id else 0 end;
    loop
      v_limit := least(p_n - cardinality(leases), v_budget);
      exit when v_limit <= 0;
      v_met := holdfast.lock_due_jobs(p_queue, p_types, v_limit, v_priority, v_run_at, v_job_id, p_from_job_id = 0,
                                      v_locked_keys || v_held_keys, v_now);
      exit when v_met.n = 0;
      v_budget := v_budget - v_met.n;
      v_run_at := v_met.last_run_at;
      v_job_id := v_met.last_job_id;
      if v_met.unkeyed is not null then
        leases := leases || holdfast.claim_unkeyed(v_met.unkeyed, p_worker, p_lease_id, v_now, p_lease_seconds);
      end if;
      if v_met.keyed is not null then
        v_keyed := holdfast.claim_keyed(v_met.keyed, array[p_queue], p_types, p_worker, p_lease_id, v_now, p_lease_seconds);
        leases := leases || v_keyed.leases;
        v_locked_keys := v_locked_keys || v_keyed.locked_keys;
        v_held_keys := v_held_keys || v_keyed.held_keys;
        -- The backlog of a held key is parked in pieces of up to 1,000: a few are enough for one call.
        v_budget := v_budget - case when v_keyed.held_keys <> '{}' then 250 else 0 end;
      end if;
      -- Jobs of a locked key are still pending: the next claim must meet them again.
      if v_locked_keys = '{}' then
        priority := v_priority;
        run_at := v_run_at;
        job_id := v_job_id;
      end if;
      exit when v_met.n < v_limit;
    end loop;
  end loop;
  -- A worker without jobs goes on parking.
  has_more := v_budget <= 0 or leases = '{}' and v_held_keys <> '{}';
end
$$;

-- Claims up to p_n jobs from before the position: those whose key was freed after claims had passed their place.
-- It locks as claim_keyed does, and runs with the settings of scan_queue.
create or replace function holdfast.claim_unparked(
  p_queue text, p_types text[], p_n integer, p_to_priority integer, p_to_run_at timestamptz, p_to_job_id bigint,
  p_worker text, p_lease_id uuid, p_now timestamptz, p_lease_seconds jsonb
)
  returns holdfast.lease[]
  language plpgsql volatile
as $$
declare
  v_keyed constant bigint[] := array(
    select r.job_id
      from holdfast.ready as r
     where r.unparked
       and r.queue = p_queue
       and (r.priority, r.run_at, r.job_id) <= (p_to_priority, p_to_run_at, p_to_job_id)
       and r.crashes < 2
       and r.type = any (p_types)
       and not exists (select from holdfast.queue as q where q.name = p_queue and q.paused_at is not null)
     order by r.priority, r.run_at, r.job_id
     limit p_n
       for update skip locked
  );
begin
  if v_keyed = '{}' then
    return '{}';
  end if;
  return (holdfast.claim_keyed(v_keyed, array[p_queue], p_types, p_worker, p_lease_id, p_now, p_lease_seconds)).leases;
end
$$;
