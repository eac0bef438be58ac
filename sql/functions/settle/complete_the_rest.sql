-- complete_the_rest: running → completed for keyed jobs and steps of pipelines; recognises completions that were made before
--   Guard   as complete_jobs.
--   Locks   key rows in order, then their lease rows.
--   Returns the places of the members that are settled, without those in p_done.
--   Notifies as end_leases.
--   Tested by  test/sql/settle/complete_jobs.test.ts
create or replace function holdfast.complete_the_rest(p_settlements jsonb, p_done integer[])
  returns integer[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_places integer[];
  v_ids bigint[];
  v_outputs jsonb[];
begin
  select coalesce(array_agg(h.place), '{}'), array_agg(h.job_id),
         array_agg(nullif(p_settlements -> (h.place - 1) -> 'output', 'null'))
    into v_places, v_ids, v_outputs
    from (select distinct on (h.job_id) h.place, h.job_id from holdfast.lock_leases(p_settlements) as h) as h;
  if v_ids is not null then
    perform holdfast.end_leases(v_ids, 'completed', v_outputs, null);
  end if;

  return v_places || holdfast.completed_before(p_settlements, p_done || v_places);
end
$$;
