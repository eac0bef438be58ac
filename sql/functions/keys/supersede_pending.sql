-- supersede_pending: pending → superseded for the jobs of a key up to a rank
--   Guard   the caller holds the key row.
--   Locks   ready rows and what their end decides about in their pipelines, skip locked, at most 1000; the rest goes with a
--           later claim.
--   Returns how many.
--   Notifies sleeping workers of jobs that came after one of them in a pipeline.
--   Tested by  test/sql/keys/supersede.test.ts
create or replace function holdfast.supersede_pending(p_key text, p_policy text, p_up_to_rank bigint)
  returns integer
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended integer;
  v_linked bigint[];
begin
  with gone as (
    delete from holdfast.ready as r
     where r.job_id = any (array(
       select o.job_id
         from holdfast.ready as o
        where o.key = p_key
          and o.key_policy = p_policy
          and o.rank <= p_up_to_rank
          and (not o.linked or (select h.is_claimed from holdfast.lock_successors(array[o.job_id], 'superseded', true) as h))
        order by o.rank
        limit 1000
          for update skip locked
     ))
    returning r.job_id, r.token, r.run_at, r.attempts, r.linked
  ),
  kept as (
    insert into holdfast.outcome (job_id, state, token, run_at, attempts, finished_at, error)
    select g.job_id, 'superseded', g.token, g.run_at, g.attempts, holdfast.now(),
           '{"name": "Superseded", "message": "a newer job of the same key took its place"}'
      from gone as g
  )
  select count(*), array_agg(g.job_id) filter (where g.linked) into v_ended, v_linked from gone as g;
  if v_linked is not null then
    perform holdfast.unblock_successors(v_linked, 'superseded', 'sleepers');
  end if;
  return v_ended;
end
$$;
