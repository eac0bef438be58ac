-- complete_claims: running → completed for many jobs of few claims that have neither key, pipeline nor output
--   Guard   the caller holds each job's lease. The jobs stand claim by claim: the first p_counts[1] of them have p_tokens[1]
--           and p_lease_ids[1] in common, the next p_counts[2] the second of each, and so on.
--   Locks   lease rows by primary key; what is left of them as complete_leases.
--   Returns as complete_leases: the places, from 1, of the members whose lease was lost.
--   Notifies as complete_leases.
-- A busy worker claims by hundreds, and its jobs end in about that order: a claim at a time needs neither a token and a lease
-- id per job nor a join to compare them. Anything else among them is left to complete_leases.
create or replace function holdfast.complete_claims_v1(
  p_job_ids bigint[],
  p_counts integer[],
  p_tokens bigint[],
  p_lease_ids uuid[]
)
  returns integer[]
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off   -- dead rows of a busy table are not worth a walk
  set enable_bitmapscan = off
  set plan_cache_mode = force_generic_plan  -- a new plan takes longer than to complete a few jobs
as $$
declare
  v_many constant integer := 20;  -- fewer are not worth what it takes to be able to undo them
  v_now constant timestamptz := holdfast.now();
  v_last integer := 0;
  v_ids bigint[];
  v_token bigint;
  v_lease_id uuid;
  v_ended bigint[];
  v_left integer[] := '{}';
  v_left_tokens bigint[] := '{}';
  v_left_leases uuid[] := '{}';
begin
  if cardinality(p_tokens) is distinct from cardinality(p_counts)
    or cardinality(p_lease_ids) is distinct from cardinality(p_counts)
    or (select coalesce(sum(c.n), 0) from unnest(p_counts) as c(n)) is distinct from cardinality(p_job_ids)
    or exists (select from unnest(p_counts) as c(n) where (c.n > 0) is not true)
  then
    perform holdfast.refuse('INVALID_OPTION', 'each claim needs a count from 1, a token and a lease id; the counts add up to the jobs',
      jsonb_build_object('jobs', cardinality(p_job_ids), 'counts', p_counts));
  end if;
  for v_claim in 1 .. cardinality(p_counts) loop
    v_ids := p_job_ids[v_last + 1 : v_last + p_counts[v_claim]];
    v_token := p_tokens[v_claim];
    v_lease_id := p_lease_ids[v_claim];
    if cardinality(v_ids) >= v_many and holdfast.complete_claim(v_ids, v_token, v_lease_id, v_now) then
      v_last := v_last + p_counts[v_claim];
      continue;
    end if;
    with ended as (
      delete from holdfast.lease as l
       where l.job_id = any (v_ids)
         and l.token = v_token
         and l.lease_id = v_lease_id
         and l.key is null
         and not l.linked
      returning l.job_id, l.attempts, l.token, l.lease_id, l.locked_by, l.locked_at, l.run_at
    ),
    kept as (
      insert into holdfast.outcome (job_id, state, attempts, token, lease_id, locked_by, locked_at, run_at, finished_at)
      select e.job_id, 'completed', e.attempts, e.token, e.lease_id, e.locked_by, e.locked_at, e.run_at, v_now
        from ended as e
    )
    select array_agg(e.job_id) into v_ended from ended as e;

    if cardinality(v_ended) is distinct from cardinality(v_ids) then
      v_left := v_left || array(
        select (v_last + i.place)::integer
          from unnest(v_ids) with ordinality as i(id, place)
         where (i.id = any (v_ended)) is not true
      );
      v_left_tokens := v_left_tokens || array_fill(v_token, array[cardinality(v_left) - cardinality(v_left_tokens)]);
      v_left_leases := v_left_leases || array_fill(v_lease_id, array[cardinality(v_left) - cardinality(v_left_leases)]);
    end if;
    v_last := v_last + p_counts[v_claim];
  end loop;

  if v_left = '{}' then
    return '{}';
  end if;
  return array(
    select v_left[l.place]
      from unnest(holdfast.complete_leases_v1(
             array(select p_job_ids[p.place] from unnest(v_left) with ordinality as p(place, rank) order by p.rank),
             v_left_tokens, v_left_leases
           )) as l(place)
  );
end
$$;
