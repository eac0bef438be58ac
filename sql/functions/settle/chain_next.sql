-- chain_next: none → pending for the jobs that completed members name as next
--   Guard   the caller holds the leases of p_places.
--   Locks   as chain_jobs, which finds them held.
--   Returns the new jobs.
--   Notifies nothing; the caller does.
--   Tested by  test/sql/settle/settle_jobs.test.ts
create or replace function holdfast.chain_next(p_settlements jsonb, p_places integer[])
  returns bigint[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_next bigint[] := '{}';
  v_member jsonb;
begin
  for v_member in
    select p_settlements -> (p.place - 1)
      from unnest(p_places) as p(place)
     where p_settlements -> (p.place - 1) ->> 'outcome' = 'complete'
       and p_settlements -> (p.place - 1) ? 'next'
  loop
    v_next := v_next || array(
      select c.id
        from holdfast.chain_jobs_v1((v_member ->> 'job_id')::bigint, (v_member ->> 'token')::bigint,
               (v_member ->> 'lease_id')::uuid, v_member -> 'next', 'never') as c(id));
  end loop;
  return v_next;
end
$$;
