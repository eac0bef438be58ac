-- find_key: who has a key and who waits for it
--   Guard   none.
--   Locks   none.
--   Returns one row, with pending jobs counted up to 10,001; none when no job of the key has started and none is pending.
--   Notifies nothing.
create or replace function holdfast.find_key_v1(p_key text)
  returns table (key text, holder bigint, current_job bigint, current_since timestamptz, pending integer)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select p_key, k.holder, k.current_job, k.current_since, w.pending
    from (
      select count(*)::integer as pending from (select from holdfast.ready as r where r.key = p_key limit 10001) as r
    ) as w
    left join holdfast.job_key as k on k.key = p_key
   where k.key is not null
      or w.pending > 0
$$;
