-- claim_newest: finds the newest due job of each newest-wins key; the older pending ones → superseded
--   Guard   the key rows are locked by the caller; a held key is taken over only by policy supersede.
--   Locks   ready rows, the holder's lease and what its end decides about in its pipeline, skip locked; what another has
--           locked is left for the next claim.
--   Returns the ids to claim; with p_only that id or none. For policy supersede the former holder is ended here.
--   Notifies the superseded holder's worker, by its next renewal; sleeping workers of jobs that came after in a pipeline.
--   Tested by  test/sql/keys/supersede.test.ts
create or replace function holdfast.claim_newest(
  p_met bigint[], p_free text[], p_held text[], p_queues text[], p_types text[], p_now timestamptz, p_only bigint
)
  returns bigint[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp
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

-- pending → superseded for the jobs of a key up to a rank, with what their end decides about in their pipelines. It skips what is
-- locked and ends at most 1000: the rest goes with a later claim. Returns how many.
create or replace function holdfast.supersede_pending(p_key text, p_policy text, p_up_to_rank bigint) returns integer
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_error constant jsonb := '{"name": "Superseded", "message": "a newer job of the same key took its place"}';
  v_pending constant holdfast.ready[] := array(
    select r
      from holdfast.ready as r
     where r.key = p_key
       and r.key_policy = p_policy
       and r.rank <= p_up_to_rank
       and (not r.linked or (select h.is_claimed from holdfast.lock_successors(array[r.job_id], array['superseded'], true) as h))
     order by r.rank
     limit 1000
       for update skip locked
  );
  v_linked constant bigint[] := array(select r.job_id from unnest(v_pending) as r where r.linked);
begin
  perform holdfast.drop_ready(array(select r.job_id from unnest(v_pending) as r));
  perform holdfast.place_outcomes(
    array(select holdfast.outcome_row(r, 'superseded', v_now, v_error) from unnest(v_pending) as r));
  if v_linked <> '{}' then
    perform holdfast.unblock_successors(v_linked, array_fill('superseded'::text, array[cardinality(v_linked)]), 'sleepers');
  end if;
  return cardinality(v_pending);
end
$$;
