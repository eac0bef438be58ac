-- crowded_keys: which of these held keys have due jobs that are not parked
--   Guard   none; reads only.
--   Locks   none.
--   Returns those keys.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_batch.test.ts
create or replace function holdfast.crowded_keys(p_keys text[], p_now timestamptz)
  returns text[]
  language plpgsql stable  -- a body in SQL would be planned anew at every call
  set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select k.key
      from unnest(p_keys) as k(key)
     where (
       select true
         from holdfast.ready as o
        where o.key = k.key
          and not o.parked
          and o.run_at <= p_now
          and o.key_policy <> 'supersede'
        limit 1
     )
  );
end
$$;
