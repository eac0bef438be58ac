-- free_keys: takes the holder off keys and lets each key's next parked job be claimed
--   Guard   the caller holds the key rows and has ended the leases p_job_ids.
--   Locks   one parked ready row per key, skip locked: one that an open transaction is merging into un-parks itself.
--   Returns nothing.
--   Notifies sleeping workers of the un-parked jobs' queues.
--   Tested by  test/sql/claim/claim_keyed.test.ts
create or replace function holdfast.free_keys(p_keys text[], p_job_ids bigint[]) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
  set enable_seqscan = off
  set enable_sort = off           -- ready_key has the order; by another index each key would read all that is parked
as $$
declare
  v_queues text[];
begin
  update holdfast.job_key as k
     set holder = null
   where k.key = any (p_keys)
     and k.holder = any (p_job_ids);

  with next as materialized (
    select n.job_id
      from unnest(p_keys) as w(key)
     cross join lateral (
       select r.job_id
         from holdfast.ready as r
        where r.key = w.key
          and r.parked
        order by r.priority, r.run_at, r.job_id
        limit 1
          for update skip locked
     ) as n
  ),
  offered as (
    update holdfast.ready as r
       set parked = false, unparked = true
     where r.job_id = any (array(select n.job_id from next as n))
    returning r.queue
  )
  select array_agg(distinct o.queue) into v_queues from offered as o;

  if v_queues is not null then
    perform holdfast.wake_workers(v_queues, holdfast.now(), 'sleepers');
  end if;
end
$$;
