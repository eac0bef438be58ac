-- claim_keyed: pending → running for keyed jobs, with their keys; older ones of a newest-wins key → superseded
--   Guard   the key row is ours (try-locked) and says whether the key is held; the caller has locked the ready rows p_met.
--   Locks   key rows in order, skip locked; then ready and lease rows, skip locked; never waits.
--   Returns the leases; the keys of the jobs that are still pending and not parked, because another transaction has locked
--           their key; the held keys whose jobs were parked, out of the way of other claims.
--   Notifies nothing.
-- p_only claims that job or none. The keys are locked by a statement of their own: the next one sees what the lock waited for.
create or replace function holdfast.claim_keyed(
  p_met bigint[], p_queues text[], p_types text[], p_worker text, p_lease_id uuid, p_now timestamptz,
  p_lease_seconds jsonb, p_only bigint default null,
  out leases holdfast.lease[], out locked_keys text[], out held_keys text[]
)
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
  set enable_seqscan = off
as $$
declare
  v_free text[];
  v_held text[];
  v_winners bigint[];
  v_taken text[];
begin
  select k.free, k.held
    into v_free, v_held
    from holdfast.lock_keys_of_ready(p_met) as k;

  -- By id first: by their keys the whole backlog of these would be read.
  with met as materialized (
    select r.job_id, r.key, r.run_at
      from holdfast.ready as r
     where r.job_id = any (p_met)
       and r.key_policy = 'exclusive'
  )
  select array_agg(w.job_id), array_agg(w.key)
    into v_winners, v_taken
    from (
      select distinct on (m.key) m.job_id, m.key
        from met as m
       where m.key = any (v_free)
       order by m.key, m.run_at, m.job_id
    ) as w;
  -- A key can have jobs of several policies; it still has one winner.
  v_winners := v_winners || holdfast.claim_newest(p_met, array(select unnest(v_free) except select unnest(v_taken)), v_held,
                                                  p_queues, p_types, p_now, p_only);

  with taken as (
    delete from holdfast.ready as r
     where r.job_id = any (v_winners)
    returning r as job
  ),
  fenced as (
    update holdfast.job_key as k
       set holder = (t.job).job_id, current_job = (t.job).job_id, current_rank = (t.job).rank, current_since = p_now,
           token = greatest(k.token, (t.job).token) + 1
      from taken as t
     where k.key = (t.job).key
    returning t.job, k.token
  )
  select coalesce(array_agg(holdfast.lease_row(f.job, f.token, p_worker, p_lease_id, p_now,
                                               p_now + make_interval(secs => (p_lease_seconds ->> (f.job).type)::integer))), '{}')
    into leases
    from fenced as f;
  perform holdfast.place_leases(leases);

  held_keys := holdfast.park_backlog(v_free || v_held, p_met, p_now);
  -- By id alone: a condition on parked could choose the index of all that is parked, and compare each with each of these.
  select coalesce(array_agg(distinct r.key) filter (where not r.parked), '{}')
    into locked_keys
    from holdfast.ready as r
   where r.job_id = any (p_met);
end
$$;
