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
  v_now constant timestamptz := holdfast.now();
  v_error constant jsonb := '{"name": "Superseded", "message": "a newer job of the same key took its place"}';
  v_pending constant holdfast.ready[] := array(
    select r
      from holdfast.ready as r
     where r.key = p_key
       and r.key_policy = p_policy
       and r.rank <= p_up_to_rank
       and (not r.linked or (select h.is_claimed from holdfast.lock_successors(array[r.job_id], array['superseded'], true) as h))
     order by r.rank
     limit 1000
       for update skip locked
  );
  v_linked constant bigint[] := array(select r.job_id from unnest(v_pending) as r where r.linked);
begin
  perform holdfast.drop_ready(array(select r.job_id from unnest(v_pending) as r));
  perform holdfast.place_outcomes(
    array(select holdfast.outcome_row(r, 'superseded', v_now, v_error) from unnest(v_pending) as r));
  if v_linked <> '{}' then
    perform holdfast.unblock_successors(v_linked, array_fill('superseded'::text, array[cardinality(v_linked)]), 'sleepers');
  end if;
  return cardinality(v_pending);
end
$$;
