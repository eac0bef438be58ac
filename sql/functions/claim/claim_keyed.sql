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
  v_leases holdfast.lease[];
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
  select array_agg(holdfast.lease_row(f.job, f.token, p_worker, p_lease_id, p_now,
                                      p_now + make_interval(secs => (p_leases ->> (f.job).type)::integer)))
    into v_leases
    from fenced as f;
  perform holdfast.place_leases(v_leases);
  v_claimed := array(select l.job_id from unnest(v_leases) as l order by l.run_at, l.job_id);

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
