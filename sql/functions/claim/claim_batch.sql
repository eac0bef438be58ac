-- claim_batch: pending → running, in the form that costs a busy worker least
--   Guard   as claim_jobs.
--   Locks   ready rows in claim order, skip locked; never waits.
--   Returns jobs: what encode_claimed_jobs gives, or null when none was claimed; the position that the next claim may pass; has_more:
--           it left jobs of held keys unparked, though it may have claimed few: ask again, from the start.
--   Notifies nothing.
-- p_lease_id: a random uuid, another one for each call; without it one is made here. Whoever made it can give back what it claimed
-- without hearing of it (release_claims). With one that was used before the token still fences, which grows with each claim of a
-- job; but release_claims gives back the jobs of both claims, and a failover that loses commits may issue a token twice.
-- p_passes_crowds: the backlog of a held key, if it is long, is passed by and not walked through, for whoever has nothing to do until
-- the answer comes. Jobs of others that stand in it wait for a look from the start that walks: the next must.
create or replace function holdfast.claim_batch_v1(
  p_worker text,
  p_queue text,
  p_types text[],
  p_n integer,
  p_from_priority integer default 0,
  p_from_run_at timestamptz default '-infinity',
  p_from_job_id bigint default 0,
  p_lease_id uuid default null,
  p_passes_crowds boolean default false,
  out jobs json,
  out priority integer,
  out run_at timestamptz,
  out job_id bigint,
  out has_more boolean
)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  -- One per call: (job id, lease id) is still unique to this claim.
  v_lease_id constant uuid := coalesce(p_lease_id, gen_random_uuid());
  v_leases constant jsonb := holdfast.lease_seconds_by_type(p_types);
  v_ids bigint[];
  v_due_ms bigint[];
begin
  perform holdfast.check_claim(p_worker, array[p_queue], p_types, p_n);
  select c.o_ids, c.o_priority, c.o_run_at, c.o_job_id, c.o_has_more, c.o_due_ms
    into v_ids, priority, run_at, job_id, has_more, v_due_ms
    from holdfast.scan_queue(p_worker, p_queue, p_types, p_n, p_from_priority, p_from_run_at, p_from_job_id, v_lease_id,
                            v_leases, p_passes_crowds) as c;
  if v_ids <> '{}' then
    jobs := holdfast.encode_claimed_jobs(v_ids, v_lease_id, v_leases, v_due_ms);
  end if;
end
$$;
