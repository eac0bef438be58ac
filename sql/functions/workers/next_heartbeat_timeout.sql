-- next_heartbeat_timeout: how long until some worker has been silent for so long that it may be dead
--   Guard   none; the answer is a hint: reap_leases decides, and tries the worker's lock too.
--   Locks   none.
--   Returns milliseconds, 0 or less when one is silent already; null without workers.
--   Notifies nothing.
-- It is called with every heartbeat, so it reads the rows of workers and nothing that grows with the jobs.
create or replace function holdfast.next_heartbeat_timeout_v1(p_grace interval default '2 seconds') returns bigint
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select ceil(1000 * extract(epoch from min(holdfast.dead_from(w, p_grace)) - holdfast.now()))::bigint
    from holdfast.worker as w
$$;
