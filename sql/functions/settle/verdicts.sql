-- verdicts: the answer of a batch, member by member
--   Guard   none.
--   Locks   none.
--   Returns one row per member in order: settled where its place is in p_settled, else code LEASE_LOST.
--   Notifies nothing.
--   Tested by  test/sql/settle/complete_jobs.test.ts
create or replace function holdfast.verdicts(p_settlements jsonb, p_settled integer[])
  returns table (job_id bigint, settled boolean, code text)
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $$
  select w.job_id, s.place is not null, case when s.place is null then 'LEASE_LOST' end
    from rows from (jsonb_to_recordset(p_settlements) as (job_id bigint)) with ordinality as w(job_id, place)
    left join unnest(p_settled) as s(place) on s.place = w.place
   order by w.place
$$;
