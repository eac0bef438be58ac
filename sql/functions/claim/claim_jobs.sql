-- claim_jobs: pending → running
--   Guard   due, type wanted, queue not paused, attempts left; a keyed job only with its key (claim_keyed).
--   Locks   ready rows in claim order, skip locked; never waits.
--   Returns up to p_n jobs with their lease: (job id, token, lease id) is what every later write must present.
--   Notifies nothing.
-- Queues are served in the order given; within one, priority, then run_at, then id.
create or replace function holdfast.claim_jobs_v1(p_worker text, p_queues text[], p_types text[], p_n integer)
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_lease_id constant uuid := gen_random_uuid();  -- one per call: (job id, lease id) is still unique to this claim
  v_lease_seconds constant jsonb := holdfast.lease_seconds_by_type(p_types);
  v_queue text;
  v_leases holdfast.lease[] := '{}';
begin
  perform holdfast.check_claim(p_worker, p_queues, p_types, p_n);
  foreach v_queue in array p_queues loop
    exit when cardinality(v_leases) = p_n;
    v_leases := v_leases || (
      select s.leases
        from holdfast.scan_queue(v_queue, p_types, p_n - cardinality(v_leases), 0, '-infinity', 0, p_worker, v_lease_id,
                                 v_lease_seconds) as s
    );
  end loop;
  return query
    select r.*
      from holdfast.claim_rows(v_leases) as r
     order by array_position(p_queues, r.queue), r.priority, r.run_at, r.id;
end
$$;

-- The jobs of one claim as rows, in no order.
create or replace function holdfast.claim_rows(p_leases holdfast.lease[])
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language sql volatile set search_path = pg_catalog, pg_temp
as $$
  select l.job_id, l.type, j.input, l.token, l.lease_id, l.attempts, l.locked_until, l.max_attempts, l.queue, l.priority,
         l.run_at, l.key, j.pipeline_id, j.tags
    from unnest(p_leases) as l
   cross join lateral (select b.input, b.pipeline_id, b.tags from holdfast.job as b where b.id = l.job_id limit 1) as j
$$;

create or replace function holdfast.claim_jobs(worker text, queues text[], types text[], n integer)
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.claim_jobs_v1(worker, queues, types, n) $$;
