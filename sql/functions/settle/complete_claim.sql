-- complete_claim: running → completed for jobs of one claim that have neither key, pipeline nor output, all or none
--   Guard   every one of these leases is held until this ends it.
--   Locks   lease rows by primary key.
--   Returns false when nothing was done: a lease was lost, or one of the jobs is not of this kind.
--   Notifies nothing.
--   Tested by  test/sql/settle/complete_claims.test.ts
-- Leases are read, then deleted. A statement that deletes, returns and inserts would keep every row in between. Another may end
-- one of them after it was read: then fewer are deleted than were written, and all of it is undone.
create or replace function holdfast.complete_claim(p_job_ids bigint[], p_token bigint, p_lease_id uuid, p_now timestamptz)
  returns boolean
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_written integer;
  v_ended integer;
begin
  insert into holdfast.outcome (job_id, state, attempts, token, lease_id, locked_by, locked_at, run_at, finished_at)
  select l.job_id, 'completed', l.attempts, l.token, l.lease_id, l.locked_by, l.locked_at, l.run_at, p_now
    from holdfast.lease as l
   where l.job_id = any (p_job_ids)
     and l.token = p_token
     and l.lease_id = p_lease_id
     and l.key is null
     and not l.linked;
  get diagnostics v_written = row_count;
  delete from holdfast.lease as l
   where l.job_id = any (p_job_ids)
     and l.token = p_token
     and l.lease_id = p_lease_id
     and l.key is null
     and not l.linked;
  get diagnostics v_ended = row_count;
  if v_written < cardinality(p_job_ids) or v_ended < cardinality(p_job_ids) then
    raise exception 'not all of these leases could be ended';
  end if;
  return true;
exception when raise_exception then
  return false;
end
$$;
