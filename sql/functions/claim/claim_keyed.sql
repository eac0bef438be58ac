-- claim_keyed: pending → running for keyed jobs, with their keys; older ones of a newest-wins key → superseded
--   Guard   the key row is ours (try-locked) and says whether the key is held.
--   Locks   key rows in order, skip locked; then ready and lease rows, skip locked; never waits.
--   Returns the claimed jobs. What waits for a held key is parked, out of the way of other claims.
--   Notifies nothing.
-- The caller holds the ready rows p_met; p_only claims that job or none. Lock and act are separate statements: the second sees what the first waited out.
create or replace function holdfast.claim_keyed(
  p_met bigint[],
  p_worker text,
  p_queues text[],
  p_types text[],
  p_lease_id uuid,
  p_now timestamptz,
  p_leases jsonb,
  p_only bigint default null
)
  returns bigint[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_free text[];
  v_held text[];
  v_winners bigint[];
  v_taken text[];
  v_crowded text[];
  v_claimed bigint[];
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
    returning r.job_id, r.type, r.queue, r.priority, r.run_at, r.attempts, r.max_attempts, r.token, r.key, r.key_policy,
              r.rank, r.crashes, r.linked
  ),
  fenced as (
    update holdfast.job_key as k
       set holder = t.job_id, current_job = t.job_id, current_rank = t.rank, current_since = p_now,
           token = greatest(k.token, t.token) + 1
      from taken as t
     where k.key = t.key
    returning t.job_id, t.type, t.queue, t.priority, t.run_at, t.attempts, t.max_attempts, t.key, t.key_policy, t.rank,
              t.crashes, t.linked, k.token
  ),
  leased as (
    insert into holdfast.lease
      (job_id, type, queue, priority, run_at, attempts, max_attempts, token, key, key_policy, rank, lease_id, locked_by,
       locked_at, locked_until, crashes, linked)
    select f.job_id, f.type, f.queue, f.priority, f.run_at, f.attempts + 1, f.max_attempts, f.token, f.key, f.key_policy,
           f.rank, p_lease_id, p_worker, p_now, p_now + make_interval(secs => (p_leases ->> f.type)::integer), f.crashes,
           f.linked
      from fenced as f
    returning lease.job_id, lease.run_at
  )
  select coalesce(array_agg(l.job_id order by l.run_at, l.job_id), '{}') into v_claimed from leased as l;

  -- What is still met and pending behind a locked key waits for it; the rest of its backlog goes with it, a piece at a time.
  with met as materialized (
    select distinct r.key from holdfast.ready as r where r.job_id = any (p_met) and r.key_policy <> 'supersede'
  )
  select array_agg(m.key)
    into v_crowded
    from met as m
   where m.key = any (v_free || v_held)
     and exists (select from holdfast.job_key as k where k.key = m.key and k.holder is not null);
  if v_crowded is not null then
    perform holdfast.park_backlog(v_crowded, p_met, 1000, p_now);
  end if;
  return v_claimed;
end
$$;
