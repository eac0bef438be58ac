-- complete_the_rest: running → completed for keyed jobs; recognises completions that were made before
--   Guard   as complete_jobs.
--   Locks   key rows in order, then their lease rows.
--   Gives   the places of the members that are settled, without those in p_done.
--   Tells   as end_leases.
--   Tested by  test/sql/complete_jobs.test.ts
create or replace function holdfast.complete_the_rest(p_settlements jsonb, p_done integer[])
  returns integer[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_nestloop = on  -- a few members against the index of each day's outcomes
as $$
declare
  v_places integer[];
  v_ids bigint[];
  v_outputs jsonb[];
begin
  select coalesce(array_agg(h.place), '{}'), array_agg(h.job_id),
         array_agg(nullif(p_settlements -> (h.place - 1) -> 'output', 'null'))
    into v_places, v_ids, v_outputs
    from (select distinct on (h.job_id) h.place, h.job_id from holdfast.hold_leases(p_settlements) as h) as h;
  if v_ids is not null then
    perform holdfast.end_leases(v_ids, 'completed', v_outputs, null);
  end if;

  return v_places || array(
    select w.place::integer
      from rows from (
        jsonb_to_recordset(p_settlements) as (job_id bigint, token bigint, lease_id uuid)
      ) with ordinality as w(job_id, token, lease_id, place)
     where w.place <> all (p_done || v_places)
       and exists (
         select
           from holdfast.outcome as o
          where o.job_id = w.job_id
            and o.token = w.token
            and o.lease_id = w.lease_id
            and o.state = 'completed'
       )
  );
end
$$;
