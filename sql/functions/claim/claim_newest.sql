-- claim_newest: finds the newest due job of each newest-wins key; the older pending ones → superseded
--   Guard   the key rows are locked by the caller; a held key is taken over only by policy supersede.
--   Locks   ready rows, the holder's lease and what its end decides about in its pipeline, skip locked; what another has
--           locked is left for the next claim.
--   Returns the ids to claim; with p_only that id or none. For policy supersede the former holder is ended here, in the same transaction.
--   Notifies the superseded holder's worker, by its next renewal.
--   Tested by  test/sql/keys/supersede.test.ts
create or replace function holdfast.claim_newest(
  p_met bigint[],
  p_free text[],
  p_held text[],
  p_queues text[],
  p_types text[],
  p_now timestamptz,
  p_only bigint
)
  returns bigint[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_winners bigint[] := '{}';
  v_key record;
  v_newest record;
  v_holder bigint;
begin
  for v_key in
    -- By id first: by their keys the whole backlog of these would be read.
    with met as materialized (
      select r.key, r.key_policy, r.rank
        from holdfast.ready as r
       where r.job_id = any (p_met)
         and r.key_policy in ('supersede', 'coalesce')
    )
    select distinct on (m.key) m.key, m.key_policy
      from met as m
     where m.key = any (p_free)
        or m.key = any (p_held) and m.key_policy = 'supersede'
     order by m.key, m.rank desc
  loop
    select r.job_id, r.rank, r.queue = any (p_queues) and r.type = any (p_types) as is_wanted
      into v_newest
      from holdfast.ready as r
     where r.key = v_key.key
       and r.key_policy = v_key.key_policy
       and r.run_at <= p_now
     order by r.rank desc
     limit 1
       for update skip locked;
    continue when not found;

    -- Older than what has already started: its time is over.
    if v_key.key_policy = 'supersede'
      and exists (select from holdfast.job_key as k where k.key = v_key.key and k.current_rank > v_newest.rank)
    then
      perform holdfast.supersede_pending(v_key.key, v_key.key_policy, v_newest.rank);
      continue;
    end if;
    continue when not v_newest.is_wanted or v_newest.job_id <> p_only;

    select k.holder into v_holder from holdfast.job_key as k where k.key = v_key.key;
    if v_holder is not null then
      perform from holdfast.lease as l where l.job_id = v_holder for update skip locked;
      continue when not found
        or not (select h.is_claimed from holdfast.lock_successors(array[v_holder], array['superseded'], true) as h);
      perform holdfast.end_leases(array[v_holder], array['superseded'], null,
        array[jsonb_build_object('name', 'Superseded', 'message', format('job %s is newer', v_newest.job_id))]);
    end if;
    perform holdfast.supersede_pending(v_key.key, v_key.key_policy, v_newest.rank - 1);
    v_winners := v_winners || v_newest.job_id;
  end loop;
  return v_winners;
end
$$;
