-- complete_jobs: running → completed
--   Guard   the caller holds each job's lease, member by member (job id, token, lease id).
--   Locks   as complete_leases.
--   Returns one row per member: settled true, or false with code LEASE_LOST. Repeating a completion that this very lease has
--           made is true again, for a client that lost the answer.
--   Notifies sleeping workers of jobs that waited for a freed key.
-- Members: job_id, token, lease_id and output.
create or replace function holdfast.complete_jobs_v1(p_settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_lost integer[];
begin
  perform holdfast.check_settlements(p_settlements);
  select holdfast.complete_leases_v1(
           coalesce(array_agg(w.job_id order by w.place), '{}'), array_agg(w.token order by w.place),
           array_agg(w.lease_id order by w.place), jsonb_agg(w.output order by w.place)
         )
    into v_lost
    from rows from (
      jsonb_to_recordset(p_settlements) as (job_id bigint, token bigint, lease_id uuid, output jsonb)
    ) with ordinality as w(job_id, token, lease_id, output, place);
  return query
    select v.job_id, v.settled, v.code
      from holdfast.verdicts(p_settlements, array(
        select p.place from generate_series(1, jsonb_array_length(p_settlements)) as p(place) where p.place <> all (v_lost)
      )) as v;
end
$$;

create or replace function holdfast.complete_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.complete_jobs_v1(settlements)
$$;
