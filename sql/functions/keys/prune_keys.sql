-- prune_keys: forgets keys whose jobs are all gone
--   Guard   no job of the key is left; its fence is remembered in key_floor, so that a later key of that name starts above it.
--   Locks   key rows, skip locked, then key_floor.
--   Returns how many.
--   Notifies nothing.
--   Tested by  test/sql/maintenance/prune_jobs.test.ts
create or replace function holdfast.prune_keys(p_limit integer)
  returns integer
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys text[];
begin
  v_keys := array(
    select k.key
      from holdfast.job_key as k
     where k.holder is null
       and not exists (select from holdfast.job as j where j.key = k.key)
     limit p_limit
       for update skip locked
  );
  with gone as (
    delete from holdfast.job_key as k
     where k.key = any (v_keys)
       and not exists (select from holdfast.job as j where j.key = k.key)
    returning k.token
  )
  update holdfast.key_floor as f
     set token = greatest(f.token, (select max(g.token) from gone as g));
  return cardinality(v_keys);
end
$$;
