-- claim_by_id: pending → running for one job by its id
--   Guard   as claim_jobs: due, queue not paused, attempts left, its key free (or taken over by policy); with p_types only
--           a type that the caller has a handler for.
--   Locks   its key, then the ready row, both skip locked; never waits.
--   Returns what encode_claimed_jobs gives, or null: another has it, or it is not eligible.
--   Notifies nothing.
-- p_lease_id as in claim_batch.
create or replace function holdfast.claim_by_id_v1(
  p_job_id bigint,
  p_worker text,
  p_types text[] default null,
  p_lease_id uuid default null
)
  returns json
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_lease_id constant uuid := coalesce(p_lease_id, gen_random_uuid());
  v_key text;
  v_met record;
begin
  perform holdfast.check_claim(p_worker, '{}', '{}', 1);
  -- The key is taken before the row: whoever frees the key meanwhile could not un-park a row that is locked here. And it is
  -- left alone for a job whose key has a newer one to run, so that the newer one's claimer is not turned away.
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
    return null;
  elsif v_key is not null then
    perform from holdfast.lock_keys_of_ready(array[p_job_id]) as k where v_key = any (k.free || k.held);
    if not found then
      return null;
    end if;
  end if;

  select r.ctid as place, r.type, r.queue, r.key, holdfast.lease_seconds_by_type(array[r.type]) as leases
    into v_met
    from holdfast.ready as r
   where r.job_id = p_job_id
     and r.run_at <= v_now
     and (p_types is null or r.type = any (p_types))
     and not exists (select from holdfast.queue as q where q.name = r.queue and q.paused_at is not null)
     for update skip locked;

  if not found then
    return null;
  elsif v_met.key is null then
    perform holdfast.claim_unkeyed(array[v_met.place], p_worker, v_lease_id, v_now, v_met.leases);
  elsif holdfast.claim_keyed(array[p_job_id], p_worker, array[v_met.queue], array[v_met.type], v_lease_id, v_now,
                             v_met.leases, p_job_id) = '{}'
  then
    return null;
  end if;
  return holdfast.encode_claimed_jobs(array[p_job_id], v_lease_id, v_met.leases);
end
$$;
