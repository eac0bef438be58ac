-- park_crowd: parks the backlog of crowded keys for as long as a look has walked past it in vain
--   Guard   the caller has locked the key rows and found them held.
--   Locks   ready rows, skip locked; never waits.
--   Returns the keys that are still crowded.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_batch.test.ts
-- The next look would walk past them again: with as much time spent on parking as on walking, a long backlog takes few looks. Not
-- longer, and for 200 ms at most, since whoever frees such a key waits for this transaction to end.
create or replace function holdfast.park_crowd(p_keys text[], p_looking_since timestamptz)
  returns text[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_until constant timestamptz := v_now + least(v_now - p_looking_since, interval '200 milliseconds');
  v_crowded text[] := p_keys;
begin
  loop
    perform holdfast.park_backlog(v_crowded, '{}', 5000, p_looking_since);
    v_crowded := holdfast.crowded_keys(v_crowded, p_looking_since);
    exit when v_crowded = '{}' or holdfast.now() >= v_until;
  end loop;
  return v_crowded;
end
$$;
