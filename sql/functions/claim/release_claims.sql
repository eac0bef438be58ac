-- release_claims: running → pending at its old place, the attempt given back, for claims whose answer never came
--   Guard   the lease is the worker's own and has one of the lease ids, which only the claimer knows: nothing of it has run.
--   Locks   key rows in order, then lease rows by id.
--   Returns the lease ids that jobs were found under. A claim that is still under way is not found: ask again.
--   Notifies sleeping workers: the jobs can be claimed at once.
-- Leases have no index by lease id, which each claim would have to write: all that runs is read, after a fault and then seldom.
create or replace function holdfast.release_claims_v1(p_worker text, p_lease_ids uuid[]) returns uuid[]
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found uuid[];
  v_members jsonb;
begin
  select array_agg(distinct l.lease_id),
         jsonb_agg(jsonb_build_object('job_id', l.job_id, 'token', l.token, 'lease_id', l.lease_id, 'outcome', 'release'))
    into v_found, v_members
    from holdfast.lease as l
   where l.lease_id = any (p_lease_ids)
     and l.locked_by = p_worker;
  if v_members is not null then
    perform holdfast.settle_jobs_v1(v_members);
  end if;
  return coalesce(v_found, '{}');
end
$$;
