-- claimed_jobs: what a worker needs to run the jobs that it has just claimed
--   Guard   only leases of p_lease_id: the caller's own claim.
--   Locks   none.
--   Gives   one JSON object of columns, the jobs in the order of p_ids: a row each would cost a busy worker twice as much.
--           Columns that are seldom filled (key, pipeline_id, tags, trace) are objects by place, from 0, or null.
--   Tells   nothing.
--   Tested by  test/sql/claim_batch.test.ts
-- The limits keep each job a look-up by id: a join may turn round and read all of job when statistics call it empty.
create or replace function holdfast.claimed_jobs(p_ids bigint[], p_lease_id uuid, p_leases jsonb)
  returns json
  language plpgsql volatile  -- a body in SQL would be planned anew at every call
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off
  set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select json_build_object(
             'lease_id', p_lease_id,
             'lease_seconds', p_leases,
             'queue', json_agg(l.queue),
             'id', json_agg(l.job_id::text),
             'type', json_agg(l.type),
             'priority', json_agg(l.priority),
             'token', json_agg(l.token::text),
             'attempts', json_agg(l.attempts),
             'max_attempts', json_agg(l.max_attempts),
             'due_ms', json_agg((date_part('epoch', l.run_at) * 1000)::bigint),
             'input', json_agg(j.input),
             'key', json_object_agg(w.place - 1, l.key) filter (where l.key is not null),
             'pipeline_id', json_object_agg(w.place - 1, j.pipeline_id) filter (where j.pipeline_id is not null),
             'tags', json_object_agg(w.place - 1, j.tags) filter (where j.tags <> '{}'),
             'trace', json_object_agg(w.place - 1, j.trace) filter (where j.trace is not null)
           )
      from unnest(p_ids) with ordinality as w(id, place)
     cross join lateral (select * from holdfast.lease as b where b.job_id = w.id and b.lease_id = p_lease_id limit 1) as l
     cross join lateral (select b.input, b.pipeline_id, b.tags, b.trace from holdfast.job as b where b.id = w.id limit 1) as j
  );
end
$$;
