-- claim_unkeyed: pending → running for jobs without a key
--   Guard   the caller has locked the ready rows at p_places and found them due.
--   Locks   nothing more.
--   Gives   the claimed jobs as claim_jobs does, in claim order.
--   Tells   nothing.
--   Tested by  test/sql/claim_jobs.test.ts
-- The limit keeps each job a look-up by id: a join may turn round and read all of job when statistics call it empty.
create or replace function holdfast.claim_unkeyed(
  p_places tid[],
  p_worker text,
  p_lease_id uuid,
  p_now timestamptz,
  p_leases jsonb
)
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language sql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_sort = on
as $$
  with taken as (
    delete from holdfast.ready as r
     where r.ctid = any (p_places)
    returning r.job_id, r.type, r.queue, r.priority, r.run_at, r.attempts, r.max_attempts, r.token, r.crashes,
              r.linked
  ),
  leased as (
    insert into holdfast.lease
      (job_id, type, queue, priority, run_at, attempts, max_attempts, token, lease_id, locked_by, locked_at, locked_until,
       crashes, linked)
    select t.job_id, t.type, t.queue, t.priority, t.run_at, t.attempts + 1, t.max_attempts, t.token + 1, p_lease_id,
           p_worker, p_now, p_now + make_interval(secs => (p_leases ->> t.type)::integer), t.crashes, t.linked
      from taken as t
    returning lease.*
  )
  select l.job_id, l.type, j.input, l.token, l.lease_id, l.attempts, l.locked_until, l.max_attempts, l.queue, l.priority,
         l.run_at, l.key, j.pipeline_id, j.tags
    from leased as l
   cross join lateral (select b.input, b.pipeline_id, b.tags from holdfast.job as b where b.id = l.job_id limit 1) as j
   order by l.run_at, l.job_id
$$;
