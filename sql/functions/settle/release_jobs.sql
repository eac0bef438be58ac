-- release_jobs: running → pending at its old place, the attempt given back
--   Guard   the caller holds each job's lease, member by member (job id, token, lease id).
--   Locks   key rows in order, then lease rows by id.
--   Returns one row per member: settled true, or false with code LEASE_LOST.
--   Notifies sleeping workers: the job can be claimed at once.
create or replace function holdfast.release_jobs_v1(p_settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_places integer[];
  v_ids bigint[];
begin
  perform holdfast.check_settlements(p_settlements);
  select coalesce(array_agg(h.place), '{}'), array_agg(h.job_id)
    into v_places, v_ids
    from (select distinct on (h.job_id) h.place, h.job_id from holdfast.lock_leases(p_settlements) as h) as h;
  if v_ids is not null then
    perform holdfast.return_leases(v_ids, null, 1);
  end if;
  return query select v.job_id, v.settled, v.code from holdfast.verdicts(p_settlements, v_places) as v;
end
$$;

create or replace function holdfast.release_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.release_jobs_v1(settlements)
$$;
