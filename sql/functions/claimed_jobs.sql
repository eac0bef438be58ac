-- claimed_jobs: what a worker needs to run the jobs that it has just claimed
--   Guard   only leases of p_lease_id: the caller's own claim.
--   Locks   none.
--   Gives   one JSON object of columns, the jobs in claim order: a row each would cost a busy worker twice as much. id, due_ms
--           and input are arrays; every other column is an object by place, from 0, or null, and tells only what is not as
--           in usual (type to max_attempts) or not empty (key to trace).
--   Tells   nothing.
--   Tested by  test/sql/claim_batch.test.ts
-- Both tables are looked up by the batch's own ids before they are joined: a join of the tables themselves may turn round and
-- read all of job when statistics call it empty.
create or replace function holdfast.claimed_jobs(p_ids bigint[], p_lease_id uuid, p_leases jsonb)
  returns json
  language plpgsql volatile  -- a body in SQL would be planned anew at every call
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_nestloop = off
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
begin
  select l.type, l.queue, l.priority, l.token, l.attempts, l.max_attempts
    into v_type, v_queue, v_priority, v_token, v_attempts, v_max_attempts
    from holdfast.lease as l
   where l.job_id = p_ids[1]
     and l.lease_id = p_lease_id;
  return (
    select json_build_object(
             'lease_id', p_lease_id,
             'lease_seconds', p_leases,
             'usual', json_build_object(
               'type', v_type, 'queue', v_queue, 'priority', v_priority, 'token', v_token::text, 'attempts', v_attempts,
               'max_attempts', v_max_attempts
             ),
             'id', json_agg(c.job_id::text),
             'due_ms', json_agg((date_part('epoch', c.run_at) * 1000)::bigint),
             'input', json_agg(c.input),
             'type', json_object_agg(c.place, c.type) filter (where c.type <> v_type),
             'queue', json_object_agg(c.place, c.queue) filter (where c.queue <> v_queue),
             'priority', json_object_agg(c.place, c.priority) filter (where c.priority <> v_priority),
             'token', json_object_agg(c.place, c.token::text) filter (where c.token <> v_token),
             'attempts', json_object_agg(c.place, c.attempts) filter (where c.attempts <> v_attempts),
             'max_attempts', json_object_agg(c.place, c.max_attempts) filter (where c.max_attempts <> v_max_attempts),
             'key', json_object_agg(c.place, c.key) filter (where c.key is not null),
             'pipeline_id', json_object_agg(c.place, c.pipeline_id) filter (where c.pipeline_id is not null),
             'tags', json_object_agg(c.place, c.tags) filter (where c.tags <> '{}'),
             'trace', json_object_agg(c.place, c.trace) filter (where c.trace is not null)
           )
      from (
        select l.job_id, l.type, l.queue, l.priority, l.run_at, l.token, l.attempts, l.max_attempts, l.key,
               j.input, j.pipeline_id, j.tags, j.trace,
               row_number() over (order by l.priority, l.run_at, l.job_id) - 1 as place
          from holdfast.lease as l
          join holdfast.job as j on j.id = l.job_id
         where l.job_id = any (p_ids)
           and l.lease_id = p_lease_id
           and j.id = any (p_ids)
         order by l.priority, l.run_at, l.job_id
      ) as c
  );
end
$$;
