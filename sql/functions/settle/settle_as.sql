-- settle_as: a batch of one outcome, for callers in other languages
--   Guard   as settle_jobs.
--   Locks   as settle_jobs.
--   Returns one row per member, in order: settled true, or false with code LEASE_LOST.
--   Notifies as settle_jobs.
--   Tested by  test/sql/settle/complete_jobs.test.ts
create or replace function holdfast.settle_as(p_settlements jsonb, p_outcome text)
  returns table (job_id bigint, settled boolean, code text)
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_members jsonb;
  v_lost integer[];
begin
  perform holdfast.check_settlements(p_settlements);
  v_members := (
    select jsonb_agg(m.member || jsonb_build_object('outcome', p_outcome) order by m.place)
      from jsonb_array_elements(p_settlements) with ordinality as m(member, place)
  );
  v_lost := (select s.lost from holdfast.settle_jobs_v1(coalesce(v_members, '[]')) as s);
  return query
    select w.job_id, l.place is null, case when l.place is not null then 'LEASE_LOST' end
      from rows from (jsonb_to_recordset(p_settlements) as (job_id bigint)) with ordinality as w(job_id, place)
      left join unnest(v_lost) as l(place) on l.place = w.place
     order by w.place;
end
$$;
