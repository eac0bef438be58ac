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
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_lease_id constant uuid := gen_random_uuid();  -- one per call: (job id, lease id) is still unique to this claim
  v_leases constant jsonb := holdfast.lease_seconds_by_type(p_types);
  v_queue text;
  v_ids bigint[] := '{}';
begin
  perform holdfast.check_claim(p_worker, p_queues, p_types, p_n);
  foreach v_queue in array p_queues loop
    exit when cardinality(v_ids) = p_n;
    v_ids := v_ids || (
      select c.o_ids
        from holdfast.scan_queue(p_worker, v_queue, p_types, p_n - cardinality(v_ids), 0, '-infinity', 0, v_lease_id,
                                v_leases, false) as c
    );
  end loop;
  return query select r.* from holdfast.claim_rows(v_ids, v_lease_id) as r;
end
$$;

create or replace function holdfast.claim_jobs(worker text, queues text[], types text[], n integer)
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.claim_jobs_v1(worker, queues, types, n)
$$;
