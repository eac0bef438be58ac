-- lock_keys_of_ready: try-locks the keys of pending jobs, making the key rows that are missing
--   Guard   none.
--   Locks   key rows in order, skip locked; a missing row is made under an advisory try-lock, because an insert would wait
--           for another transaction that makes the same row.
--   Returns the locked keys, those without a holder and those with one; keys that others have locked are in neither.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_keyed.test.ts
create or replace function holdfast.lock_keys_of_ready(p_job_ids bigint[], out free text[], out held text[])
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
  set enable_seqscan = off
as $$
declare
  -- By id alone: a condition on the key could choose the index of all keyed jobs, and read every one of them.
  v_keys constant text[] := array_remove(
    array(select distinct r.key from holdfast.ready as r where r.job_id = any (p_job_ids)), null
  );
  v_missing constant text[] := array(
    select w.key
      from unnest(v_keys) as w(key)
     where (select true from holdfast.job_key as k where k.key = w.key) is null  -- asked key by key: a join may read all keys
     limit 200  -- each takes a slot of the server's lock table until the claim commits
  );
begin
  if v_missing <> '{}' then
    insert into holdfast.job_key (key, token)
    select w.key, f.token
      from unnest(v_missing) as w(key)
     cross join holdfast.key_floor as f
     where pg_try_advisory_xact_lock(hashtextextended(w.key, 7245903))
     order by w.key
    on conflict do nothing;
  end if;

  select coalesce(array_agg(k.key) filter (where k.holder is null), '{}'),
         coalesce(array_agg(k.key) filter (where k.holder is not null), '{}')
    into free, held
    from (
      select k.key, k.holder
        from holdfast.job_key as k
       where k.key = any (v_keys)
       order by k.key
         for update skip locked
    ) as k;
end
$$;
