-- encode_claimed_jobs: what a worker needs to run the jobs that it has just claimed
--   Guard   only leases of p_lease_id: the caller's own claim.
--   Locks   none.
--   Returns one JSON object of columns: a row each would cost a busy worker twice as much. id is a text, the ids with commas
--           between them in ascending order; due_ms and input are arrays in the same order; turn has the places, from 0, in claim
--           order where that is another one. Every other column is an object by id, or null, and tells only what is not as in
--           usual (type to max_attempts) or not empty (key to trace).
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_batch.test.ts
-- Each table is read by the batch's own ids and for itself: a join may turn round and read all of job when statistics call it
-- empty, and to join, sort and number the rows takes longer than to tell where their order differs. The leases need not be read
-- again for p_due_ms: when each was due, of jobs that have all else in common.
create or replace function holdfast.encode_claimed_jobs(
  p_ids bigint[],
  p_lease_id uuid,
  p_leases jsonb,
  p_due_ms bigint[] default null
)
  returns json
  language plpgsql volatile  -- a body in SQL would be planned anew at every call
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off
  set plan_cache_mode = force_generic_plan
as $$
declare
  -- Not one record: a field of it would be looked for again for each row.
  v_type text;
  v_queue text;
  v_priority smallint;
  v_token bigint;
  v_attempts smallint;
  v_max_attempts smallint;
  v_ids bigint[];
  v_of_jobs json[];
  v_of_leases json[];
  v_turn json;
begin
  select l.type, l.queue, l.priority, l.token, l.attempts, l.max_attempts
    into v_type, v_queue, v_priority, v_token, v_attempts, v_max_attempts
    from holdfast.lease as l
   where l.job_id = p_ids[1]
     and l.lease_id = p_lease_id;

  select array_agg(j.id),
         array[
           json_agg(j.input),
           json_object_agg(j.id, j.pipeline_id) filter (where j.pipeline_id is not null),
           json_object_agg(j.id, j.tags) filter (where cardinality(j.tags) > 0),
           json_object_agg(j.id, j.trace) filter (where j.trace is not null)
         ]
    into v_ids, v_of_jobs
    from (select b.* from holdfast.job as b where b.id = any (p_ids) order by b.id) as j;

  if v_ids = p_ids and p_due_ms is not null then
    v_of_leases := array[('[' || array_to_string(p_due_ms, ',') || ']')::json];
  else
    select array[
             json_agg((date_part('epoch', l.run_at) * 1000)::bigint),
             json_object_agg(l.job_id, l.type) filter (where l.type <> v_type),
             json_object_agg(l.job_id, l.queue) filter (where l.queue <> v_queue),
             json_object_agg(l.job_id, l.priority) filter (where l.priority <> v_priority),
             json_object_agg(l.job_id, l.token::text) filter (where l.token <> v_token),
             json_object_agg(l.job_id, l.attempts) filter (where l.attempts <> v_attempts),
             json_object_agg(l.job_id, l.max_attempts) filter (where l.max_attempts <> v_max_attempts),
             json_object_agg(l.job_id, l.key) filter (where l.key is not null)
           ]
      into v_of_leases
      from (
        select c.* from holdfast.lease as c where c.job_id = any (p_ids) and c.lease_id = p_lease_id order by c.job_id
      ) as l;
  end if;

  if v_ids <> p_ids then
    v_turn := (
      select json_agg(r.rank - 1 order by r.turn)
        from (
          select p.turn, row_number() over (order by p.id) as rank from unnest(p_ids) with ordinality as p(id, turn)
        ) as r
    );
  end if;

  return json_build_object(
    'lease_id', p_lease_id,
    'lease_seconds', p_leases,
    'usual', json_build_object('type', v_type, 'queue', v_queue, 'priority', v_priority, 'token', v_token::text,
                               'attempts', v_attempts, 'max_attempts', v_max_attempts),
    'id', array_to_string(v_ids, ','),
    'turn', v_turn,
    'due_ms', v_of_leases[1],
    'input', v_of_jobs[1],
    'type', v_of_leases[2],
    'queue', v_of_leases[3],
    'priority', v_of_leases[4],
    'token', v_of_leases[5],
    'attempts', v_of_leases[6],
    'max_attempts', v_of_leases[7],
    'key', v_of_leases[8],
    'pipeline_id', v_of_jobs[2],
    'tags', v_of_jobs[3],
    'trace', v_of_jobs[4]
  );
end
$$;
