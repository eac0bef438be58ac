-- claim_rows: the jobs of a claim as rows, for callers in SQL
--   Guard   p_leases are the caller's own claim.
--   Locks   none.
--   Returns one row per job, in no order.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_jobs.test.ts
create or replace function holdfast.claim_rows(p_leases holdfast.lease[])
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language sql volatile
  set search_path = pg_catalog, pg_temp
as $$
  select l.job_id, l.type, j.input, l.token, l.lease_id, l.attempts, l.locked_until, l.max_attempts, l.queue, l.priority,
         l.run_at, l.key, j.pipeline_id, j.tags
    from unnest(p_leases) as l
   cross join lateral (select b.input, b.pipeline_id, b.tags from holdfast.job as b where b.id = l.job_id limit 1) as j
$$;
