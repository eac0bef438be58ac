-- ready_queues: the names of the queues that have claimable or later jobs
--   Guard   none.
--   Locks   none.
--   Returns each name once, by one step of the claim index per queue, however many jobs wait.
--   Notifies nothing.
--   Tested by  test/sql/reads/unserved_work.test.ts
create or replace function holdfast.ready_queues()
  returns setof text
  language sql stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off  -- one step of the claim index per queue
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
as $$
  with recursive step(name) as (
    (select r.queue from holdfast.ready as r where not r.parked and r.crashes < 2 order by r.queue limit 1)
    union all
    select (select r.queue
              from holdfast.ready as r
             where r.queue > s.name and not r.parked and r.crashes < 2
             order by r.queue
             limit 1)
      from step as s
     where s.name is not null
  )
  select s.name from step as s where s.name is not null
$$;
