-- hand_off_jobs: pending → running for jobs that have just become pending, as far as the caller can run them at once
--   Guard   as claim_by_id.
--   Locks   as claim_by_id, job by job in the order of claims.
--   Returns what encode_claimed_jobs returns for the jobs that are now claimed for the caller, at most p_slots of each of
--           p_queues, in a list; null for none.
--   Notifies sleeping workers of what the caller did not get.
--   Tested by  test/sql/settle/settle_jobs.test.ts
create or replace function holdfast.hand_off_jobs(
  p_pending bigint[], p_worker text, p_queues text[], p_slots integer[], p_types text[]
)
  returns json[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_lease_id constant uuid := gen_random_uuid();
  v_job record;
  v_lease holdfast.lease[];
  v_leases holdfast.lease[] := '{}';
begin
  for v_job in
    select r.job_id, array_position(p_queues, r.queue) as place
      from holdfast.ready as r
     where r.job_id = any (p_pending)
       and r.queue = any (p_queues)
       and r.type = any (p_types)
     order by r.priority, r.run_at, r.job_id
  loop
    continue when p_slots[v_job.place] <= 0;
    v_lease := holdfast.lease_by_id(v_job.job_id, p_worker, p_types, v_lease_id);
    if v_lease <> '{}' then
      v_leases := v_leases || v_lease;
      p_slots[v_job.place] := p_slots[v_job.place] - 1;
    end if;
    exit when 0 >= all (p_slots);
  end loop;
  if cardinality(v_leases) < cardinality(p_pending) then
    perform holdfast.wake_workers(array_agg(distinct r.queue), holdfast.now(), 'sleepers')
       from holdfast.ready as r
      where r.job_id = any (p_pending)
     having count(*) > 0;
  end if;
  return case when v_leases <> '{}' then array[holdfast.encode_claimed_jobs(v_leases)] end;
end
$$;
