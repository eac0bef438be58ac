-- claim_jobs: pending → running
--   Guard   due, type wanted, queue not paused, attempts left; a keyed job only with its key (claim_keyed).
--   Locks   ready rows in claim order, skip locked; never waits.
--   Gives   up to p_n jobs with their lease: (job id, token, lease id) is what every later write must present.
--   Tells   nothing.
-- Queues are served in the order given; within one, priority, then run_at, then id. A caller may go on behind the last
-- position it claimed (p_from_…, one queue): dead index entries at the head then cost nothing. It must still look from the
-- start from time to time, for retries, late commits and urgent jobs.
create or replace function holdfast.claim_jobs_v1(
  p_worker text,
  p_queues text[],
  p_types text[],
  p_n integer,
  p_from_priority integer default 0,
  p_from_run_at timestamptz default '-infinity',
  p_from_job_id bigint default 0
)
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off        -- dead rows of a busy table are not worth a walk
  set enable_bitmapscan = off
  set enable_sort = off           -- the claim index has the order; a sort would read the whole backlog
  set enable_hashjoin = off       -- a batch meets job by primary key
  set enable_mergejoin = off
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_lease_id constant uuid := gen_random_uuid();  -- one per call: (job id, lease id) is still unique to this claim
  v_leases constant jsonb := holdfast.lease_seconds_by_type(p_types);
  v_left integer := p_n;
  v_budget integer := p_n + 1000;  -- rows met in one call, claimed or parked, so that a call stays short
  v_queue text;
  v_priorities integer[];
  v_priority integer;
  v_run_at timestamptz;
  v_job_id bigint;
  v_met integer;
  v_unkeyed tid[];
  v_keyed bigint[];
  v_claimed integer;
  v_shut text[] := '{}';  -- keys that another transaction has locked: their jobs can be neither claimed nor parked now
begin
  perform holdfast.check_claim(p_worker, p_queues, p_types, p_n);

  foreach v_queue in array p_queues loop
    continue when exists (select from holdfast.queue as q where q.name = v_queue and q.paused_at is not null);
    -- One look for all priorities: a claim that finds little must not ask ten times. Behind a position the caller's own
    -- priority is taken unasked, since the look would meet the dead entries that the position spares it.
    v_priorities := array(
      select p.priority
        from generate_series(p_from_priority, 9) as p(priority)
       where p.priority = p_from_priority and p_from_job_id > 0
          or (
            select true  -- a scalar with a limit, which the planner cannot turn into a join over the whole backlog
              from holdfast.ready as r
             where r.queue = v_queue
               and r.priority = p.priority
               and not r.parked
               and r.crashes < 2
               and r.run_at <= v_now
             limit 1
          )
    );
    foreach v_priority in array v_priorities loop
      v_run_at := case when v_priority = p_from_priority then p_from_run_at else '-infinity' end;
      v_job_id := case when v_priority = p_from_priority then p_from_job_id else 0 end;
      loop
        exit when v_left <= 0 or v_budget <= 0;
        select count(*), array_agg(m.place) filter (where m.key is null),
               array_agg(m.job_id) filter (where m.key is not null), max(m.run_at), (array_agg(m.job_id))[count(*)]
          into v_met, v_unkeyed, v_keyed, v_run_at, v_job_id
          from (
            select r.ctid as place, r.job_id, r.run_at, r.key
              from holdfast.ready as r
             where r.queue = v_queue
               and r.priority = v_priority
               and not r.parked
               and r.crashes < 2  -- a suspect runs alone: claim_suspect
               and r.run_at <= v_now
               and (r.run_at, r.job_id) > (v_run_at, v_job_id)
               and r.type = any (p_types)
               and (r.key is null or r.key <> all (v_shut))
             order by r.run_at, r.job_id
             limit least(v_left, v_budget)
               for update skip locked
          ) as m;
        exit when v_met = 0;
        v_budget := v_budget - v_met;

        if v_unkeyed is not null then
          return query
            select c.* from holdfast.claim_unkeyed(v_unkeyed, p_worker, v_lease_id, v_now, v_leases) as c;
          get diagnostics v_claimed = row_count;
          v_left := v_left - v_claimed;
        end if;

        if v_keyed is not null then
          return query
            select c.*
              from holdfast.claim_keyed(v_keyed, p_worker, array[v_queue], p_types, v_lease_id, v_now, v_leases) as c;
          get diagnostics v_claimed = row_count;
          v_left := v_left - v_claimed;
          -- With each held key up to 1,000 jobs of its backlog were parked: a few such batches are enough for one call.
          if exists (select from holdfast.ready as r where r.job_id = any (v_keyed) and r.parked) then
            v_budget := v_budget - 250;
          end if;
          v_shut := v_shut || array(
            select distinct r.key from holdfast.ready as r where r.job_id = any (v_keyed) and not r.parked
          );
        end if;
      end loop;
    end loop;
  end loop;
end
$$;

create or replace function holdfast.claim_jobs(
  worker text,
  queues text[],
  types text[],
  n integer,
  from_priority integer default 0,
  from_run_at timestamptz default '-infinity',
  from_job_id bigint default 0
)
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.claim_jobs_v1(worker, queues, types, n, from_priority, from_run_at, from_job_id)
$$;
