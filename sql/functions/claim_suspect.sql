-- claim_suspect: pending → running for a job that two workers died with
--   Guard   as claim_one; the caller runs nothing else meanwhile, so that a further death has one culprit.
--   Locks   as claim_one.
--   Gives   one job with its lease, or none.
--   Tells   nothing.
create or replace function holdfast.claim_suspect_v1(p_worker text, p_queues text[], p_types text[])
  returns table (
    id bigint, type text, input jsonb, token bigint, lease_id uuid, attempts smallint, locked_until timestamptz,
    max_attempts smallint, queue text, priority smallint, run_at timestamptz, key text, pipeline_id uuid, tags text[]
  )
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  for v_id in
    select r.job_id
      from holdfast.ready as r
     where r.queue = any (p_queues)
       and r.type = any (p_types)
       and not r.parked
       and r.crashes >= 2
       and r.run_at <= holdfast.now()
     order by r.priority, r.run_at, r.job_id
     limit 10
  loop
    return query select c.* from holdfast.claim_one_v1(v_id, p_worker, p_types) as c;
    exit when found;
  end loop;
end
$$;
