-- lock_leases: locks those leases of a batch that the caller holds
--   Guard   job id, token and lease id match, member by member.
--   Locks   key rows in order, then lease rows by id; waits for short transitions of the same jobs.
--   Returns the place of the member, from 1, and its job, one row per job whose lease is held; stale members are missing.
--   Notifies nothing.
--   Tested by  test/sql/settle/complete_jobs.test.ts
create or replace function holdfast.lock_leases(p_settlements jsonb)
  returns table (place integer, job_id bigint)
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_nestloop = off  -- 1,000 x 1,000 when the planner believes that one row is running
as $$
declare
  v_ids constant bigint[] := array(select w.job_id from jsonb_to_recordset(p_settlements) as w(job_id bigint));
begin
  perform
     from holdfast.job_key as k
    where k.key = any (array(select l.key from holdfast.lease as l where l.job_id = any (v_ids) and l.key is not null))
    order by k.key
      for update;

  return query
    with locked as materialized (
      select l.job_id, l.token, l.lease_id
        from holdfast.lease as l
       where l.job_id = any (v_ids)
       order by l.job_id
         for update
    )
    select distinct on (w.job_id) w.place::integer, w.job_id
      from rows from (
        jsonb_to_recordset(p_settlements) as (job_id bigint, token bigint, lease_id uuid)
      ) with ordinality as w(job_id, token, lease_id, place)
      join locked as l
        on l.job_id = w.job_id
       and l.token = w.token
       and l.lease_id = w.lease_id;
end
$$;
