-- live_counts: how many jobs are pending, waiting and running, and how many workers live
--   Guard   none.
--   Locks   none.
--   Returns pending, waiting and running jobs, each counted up to 10,001, and the workers heard of in the last ten seconds.
--   Notifies nothing.
create or replace function holdfast.live_counts_v1(
  out pending integer,
  out waiting integer,
  out running integer,
  out workers integer
)
  language sql stable security definer set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_bitmapscan = off  -- a bitmap is made of the whole index, whatever the limit
as $$
  select (select count(*) from (select from holdfast.ready as r limit 10001) as r)::integer,
         (select count(*) from (select from holdfast.waiting as w limit 10001) as w)::integer,
         (select count(*) from (select from holdfast.lease as l limit 10001) as l)::integer,
         (select count(*) from holdfast.worker as w where w.heartbeat_at > holdfast.now() - interval '10 seconds')::integer
$$;
