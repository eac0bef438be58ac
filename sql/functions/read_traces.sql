-- read_traces: where jobs come from
--   Guard   none.
--   Locks   none.
--   Gives   id and W3C traceparent of each of the jobs that has one.
--   Tells   nothing.
-- Beside the claim and not in it: only a worker that traces asks, once per claim.
create or replace function holdfast.read_traces_v1(p_job_ids bigint[])
  returns table (job_id bigint, trace text)
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
  select i.id, j.trace
    from unnest(p_job_ids) as i(id)
   cross join lateral (select b.trace from holdfast.job as b where b.id = i.id limit 1) as j
   where j.trace is not null
$$;
