-- claim_by_id: pending → running for one job by its id, for workers of the library; claim_one and claim_job: for callers in SQL
--   Guard   as claim_jobs: due, queue not paused, attempts left, its key free (or taken over by policy); with p_types only
--           a type that the caller has a handler for.
--   Locks   its key, then the ready row, both skip locked; never waits.
--   Returns what encode_claimed_jobs returns, or null; claim_one the job as claim_jobs does, or no row; claim_job true: you own it
--           and must run it; or false: another has it or it is not eligible, skip it silently.
--   Notifies nothing.
-- p_lease_id as in claim_batch. After claim_job the owner reads its token and lease id from the view jobs; a caller that settles
-- by itself uses claim_one.
create or replace function holdfast.claim_by_id_v1(
  p_job_id bigint,
  p_worker text,
  p_types text[] default null,
  p_lease_id uuid default null
)
  returns json
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return holdfast.encode_claimed_jobs(
    holdfast.lease_by_id(p_job_id, p_worker, p_types, coalesce(p_lease_id, gen_random_uuid())));
end
$$;

create or replace function holdfast.claim_one_v1(p_job_id bigint, p_worker text)
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query select r.* from holdfast.claim_rows(holdfast.lease_by_id(p_job_id, p_worker, null, gen_random_uuid())) as r;
end
$$;

create or replace function holdfast.claim_job_v1(p_job_id bigint, p_worker text) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return holdfast.lease_by_id(p_job_id, p_worker, null, gen_random_uuid()) <> '{}';
end
$$;

-- The lease of the job in a list, which is empty where another has the job or it is not eligible.
create or replace function holdfast.lease_by_id(p_job_id bigint, p_worker text, p_types text[], p_lease_id uuid)
  returns holdfast.lease[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_key text;
  v_met record;
begin
  perform holdfast.check_claim(p_worker, '{}', '{}', 1);
  -- The key is locked before the row: a transaction that frees the key could not un-park a row that is locked here. The key
  -- is left alone for a job whose key has a newer one to run, so that the newer one's claimer gets it.
  select r.key
    into v_key
    from holdfast.ready as r
   where r.job_id = p_job_id
     and not exists (
       select
         from holdfast.ready as n
        where n.key = r.key
          and n.key_policy = r.key_policy
          and n.key_policy in ('supersede', 'coalesce')
          and n.rank > r.rank
          and n.run_at <= v_now
     );
  if not found then
    return '{}';
  elsif v_key is not null then
    perform from holdfast.lock_keys_of_ready(array[p_job_id]) as k where v_key = any (k.free || k.held);
    if not found then
      return '{}';
    end if;
  end if;

  select r.ctid as place, r.type, r.queue, r.key, holdfast.lease_seconds_by_type(array[r.type]) as lease_seconds
    into v_met
    from holdfast.ready as r
   where r.job_id = p_job_id
     and r.run_at <= v_now
     and (p_types is null or r.type = any (p_types))
     and not exists (select from holdfast.queue as q where q.name = r.queue and q.paused_at is not null)
     for update skip locked;
  if not found then
    return '{}';
  elsif v_met.key is null then
    return holdfast.claim_unkeyed(array[v_met.place], p_worker, p_lease_id, v_now, v_met.lease_seconds);
  end if;
  return (holdfast.claim_keyed(array[p_job_id], array[v_met.queue], array[v_met.type], p_worker, p_lease_id, v_now,
                               v_met.lease_seconds, p_job_id)).leases;
end
$$;

create or replace function holdfast.claim_one(job_id bigint, worker text)
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.claim_one_v1(job_id, worker) $$;

create or replace function holdfast.claim_job(job_id bigint, worker text) returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.claim_job_v1(job_id, worker) $$;
