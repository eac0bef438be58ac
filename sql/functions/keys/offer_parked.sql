-- offer_parked: un-parks the next job of each free key, which a crash or a missing handler can leave parked
--   Guard   the key has no holder, by its locked row.
--   Locks   key rows, skip locked, then one parked row per key, skip locked.
--   Returns how many keys it has offered.
--   Notifies sleeping workers of the un-parked jobs' queues.
-- One more job per free key at each call: a job whose type has no handler does not block the key's others.
create or replace function holdfast.offer_parked_v1(p_limit integer default 1000) returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys text[];
begin
  v_keys := array(
    select k.key
      from holdfast.job_key as k
     where k.key in (select r.key from holdfast.ready as r where r.parked)
       and k.holder is null
     order by k.key
     limit p_limit
       for update skip locked
  );
  if v_keys <> '{}' then
    perform holdfast.free_keys(v_keys, '{}');
  end if;
  return cardinality(v_keys);
end
$$;
