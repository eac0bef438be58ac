-- dead_workers: the workers that have died without deregistering
--   Guard   no heartbeat until dead_from, and the worker's advisory lock is free. A worker that only seems dead loses its
--           leases and is fenced: it cannot write any more.
--   Locks   the dead worker's advisory lock, tried, until this transaction ends.
--   Returns their ids.
--   Notifies nothing.
--   Tested by  test/sql/leases/reap_leases.test.ts
-- dead_from: the grace after the last heartbeat; five times the grace for a worker without a lock (behind a pooler), since then
-- only its silence shows that it is dead.
create or replace function holdfast.dead_workers(p_grace interval)
  returns text[]
  language sql volatile
  set search_path = pg_catalog, pg_temp
as $$
  with silent as materialized (
    select w.id, w.has_lock
      from holdfast.worker as w
     where holdfast.dead_from(w, p_grace) < holdfast.now()
  )
  select array(
    select s.id
      from silent as s
     where not s.has_lock
        or pg_try_advisory_xact_lock(holdfast.worker_lock_id(s.id))
  )
$$;

create or replace function holdfast.dead_from(p_worker holdfast.worker, p_grace interval)
  returns timestamptz
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select p_worker.heartbeat_at + case when p_worker.has_lock then p_grace else 5 * p_grace end
$$;
