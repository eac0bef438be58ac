-- encode_claimed_jobs: what a worker needs to run the jobs that it has just claimed
--   Guard   p_leases are the leases of one claim.
--   Locks   none.
--   Returns one JSON object of columns, or null for no jobs: with a row each a busy worker takes twice as long. id is a text, the
--           ids with commas between them in ascending order; due_ms and input are arrays in the same order; turn has the places,
--           from 0, in claim order where that is another one. Every other column is an object by id, or null, and holds only what
--           is not as in usual.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_batch.test.ts
-- job is read by the batch's own ids: a join could read all of it when statistics call it empty. It runs with the search_path of its callers.
create or replace function holdfast.encode_claimed_jobs(p_leases holdfast.lease[], p_facts json default null) returns json
  language plpgsql volatile  -- a body in SQL would be planned at every call
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
  set enable_seqscan = off
as $$
declare
  v_lease constant holdfast.lease := p_leases[1];
  v_job record;
  -- Not one record: each row would look its fields up again.
  v_type text;
  v_queue text;
  v_priority smallint;
  v_token bigint;
  v_attempts smallint;
  v_max_attempts smallint;
  v_until timestamptz;
  v_in_claim_order bigint[];
  v_ids bigint[];
  v_of_jobs json[];
  v_of_leases json[];
  v_turn json;
begin
  if coalesce(cardinality(p_leases), 0) = 0 then
    return null;
  elsif cardinality(p_leases) = 1 then
    -- One job is as usual in everything: a tenth of the time, for those that somebody waits for.
    select j.pipeline_id, j.tags, j.trace, j.input into v_job from holdfast.job as j where j.id = v_lease.job_id;
    return json_build_object(
      'lease_id', v_lease.lease_id,
      'usual', json_build_object('type', v_lease.type, 'queue', v_lease.queue, 'priority', v_lease.priority,
                                 'token', v_lease.token::text, 'attempts', v_lease.attempts, 'max_attempts', v_lease.max_attempts,
                                 'lease_seconds', date_part('epoch', v_lease.locked_until - v_lease.locked_at),
                                 'key', v_lease.key, 'pipeline_id', v_job.pipeline_id, 'tags', v_job.tags, 'trace', v_job.trace),
      'id', v_lease.job_id::text,
      'due_ms', json_build_array((date_part('epoch', v_lease.run_at) * 1000)::bigint),
      'input', json_build_array(v_job.input),
      'facts', p_facts);
  end if;

  select v_lease.type, v_lease.queue, v_lease.priority, v_lease.token, v_lease.attempts, v_lease.max_attempts, v_lease.locked_until
    into v_type, v_queue, v_priority, v_token, v_attempts, v_max_attempts, v_until;
  v_in_claim_order := array(select l.job_id from unnest(p_leases) as l order by l.priority, l.run_at, l.job_id);
  select array_agg(j.id),
         array[
           json_agg(j.input),
           json_object_agg(j.id, j.pipeline_id) filter (where j.pipeline_id is not null),
           json_object_agg(j.id, j.tags) filter (where cardinality(j.tags) > 0),
           json_object_agg(j.id, j.trace) filter (where j.trace is not null)
         ]
    into v_ids, v_of_jobs
    from (select b.* from holdfast.job as b where b.id = any (v_in_claim_order) order by b.id) as j;

  select array[
           json_agg((date_part('epoch', l.run_at) * 1000)::bigint),
           json_object_agg(l.job_id, l.type) filter (where l.type <> v_type),
           json_object_agg(l.job_id, l.queue) filter (where l.queue <> v_queue),
           json_object_agg(l.job_id, l.priority) filter (where l.priority <> v_priority),
           json_object_agg(l.job_id, l.token::text) filter (where l.token <> v_token),
           json_object_agg(l.job_id, l.attempts) filter (where l.attempts <> v_attempts),
           json_object_agg(l.job_id, l.max_attempts) filter (where l.max_attempts <> v_max_attempts),
           json_object_agg(l.job_id, date_part('epoch', l.locked_until - l.locked_at)) filter (where l.locked_until <> v_until),
           json_object_agg(l.job_id, l.key) filter (where l.key is not null)
         ]
    into v_of_leases
    from (select b.* from unnest(p_leases) as b order by b.job_id) as l;

  if v_ids <> v_in_claim_order then
    v_turn := (
      select json_agg(r.rank - 1 order by r.turn)
        from (
          select p.turn, row_number() over (order by p.id) as rank from unnest(v_in_claim_order) with ordinality as p(id, turn)
        ) as r
    );
  end if;

  return json_build_object(
    'lease_id', v_lease.lease_id,
    'usual', json_build_object('type', v_type, 'queue', v_queue, 'priority', v_priority, 'token', v_token::text,
                               'attempts', v_attempts, 'max_attempts', v_max_attempts,
                               'lease_seconds', date_part('epoch', v_until - v_lease.locked_at)),
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
    'lease_seconds', v_of_leases[8],
    'key', v_of_leases[9],
    'pipeline_id', v_of_jobs[2],
    'tags', v_of_jobs[3],
    'trace', v_of_jobs[4],
    'facts', p_facts
  );
end
$$;
