-- complete_leases: running → completed, in the form that costs a busy worker least
--   Guard   the caller holds each job's lease, member by member (job id, token, lease id).
--   Locks   lease rows without a key by primary key; then, for the rest, key rows in order and their lease rows.
--   Returns the places, from 1, of the members whose lease was lost; none when all are settled. Repeating a completion that
--           this very lease has made is settled again, for a client that lost the answer.
--   Notifies sleeping workers of jobs that waited for a freed key.
--   Tested by  test/sql/settle/complete_jobs.test.ts
-- The arrays stand beside each other; p_outputs is a JSON array beside them, or null when no member has an output.
create or replace function holdfast.complete_leases_v1(
  p_job_ids bigint[],
  p_tokens bigint[],
  p_lease_ids uuid[],
  p_outputs jsonb default null
)
  returns integer[]
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off   -- dead rows of a busy table are not worth a walk
  set enable_nestloop = off  -- 1,000 x 1,000 when the planner believes that one row is running
  set enable_mergejoin = off
  set enable_bitmapscan = off
  set plan_cache_mode = force_generic_plan  -- a new plan takes longer than to complete a few jobs
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_settled integer[];
begin
  with wanted as materialized (
    select w.place::integer as place, w.job_id, w.token, w.lease_id
      from unnest(p_job_ids, p_tokens, p_lease_ids) with ordinality as w(job_id, token, lease_id, place)
  ),
  ended as (
    delete from holdfast.lease as l
     using wanted as w
     where l.job_id = any (p_job_ids)
       and l.job_id = w.job_id
       and l.token = w.token
       and l.lease_id = w.lease_id
       and l.key is null
       and not l.linked
    returning l.job_id, l.attempts, l.token, l.lease_id, l.locked_by, l.locked_at, l.run_at, w.place
  ),
  kept as (
    insert into holdfast.outcome
      (job_id, state, attempts, token, lease_id, locked_by, locked_at, run_at, finished_at, output)
    select e.job_id, 'completed', e.attempts, e.token, e.lease_id, e.locked_by, e.locked_at, e.run_at, v_now,
           case when p_outputs is not null then nullif(p_outputs -> (e.place - 1), 'null') end
      from ended as e
  )
  select coalesce(array_agg(e.place), '{}') into v_settled from ended as e;

  if cardinality(v_settled) = cardinality(p_job_ids) then
    return '{}';
  end if;
  v_settled := v_settled || holdfast.complete_the_rest(
    (select jsonb_agg(jsonb_build_object('job_id', w.job_id, 'token', w.token, 'lease_id', w.lease_id,
                                         'output', p_outputs -> (w.place - 1)::integer) order by w.place)
       from unnest(p_job_ids, p_tokens, p_lease_ids) with ordinality as w(job_id, token, lease_id, place)),
    v_settled
  );
  return array(select p.place from generate_series(1, cardinality(p_job_ids)) as p(place) where p.place <> all (v_settled));
end
$$;
