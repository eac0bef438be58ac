-- keys_still_locked: why keyed jobs that a claim has met are still pending
--   Guard   as scan_queue, whose settings it runs with, after claim_keyed.
--   Locks   none.
--   Returns the keys that another transaction has locked, the held ones with more jobs than could be parked at once, and whether
--           any was parked.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_batch.test.ts
create or replace function holdfast.keys_still_locked(
  p_keyed bigint[],
  p_now timestamptz,
  out o_shut text[],
  out o_crowded text[],
  out o_has_parked boolean
)
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_held text[];
begin
  -- By id alone: a condition on parked could choose the index of all that is parked, and compare each with each of these.
  select coalesce(array_agg(distinct r.key) filter (where not r.parked), '{}'),
         coalesce(array_agg(distinct r.key) filter (where r.parked), '{}')
    into o_shut, v_held
    from holdfast.ready as r
   where r.job_id = any (p_keyed);
  o_crowded := holdfast.crowded_keys(v_held, p_now);
  o_has_parked := v_held <> '{}';
end
$$;
