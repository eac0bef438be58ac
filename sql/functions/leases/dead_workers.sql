-- dead_workers: the workers that have died without saying so
--   Guard   silent for the grace (dead_from) and its advisory lock free; without a lock (behind a pooler) silence alone.
--           A worker that only looks dead loses its leases and is fenced: it never writes twice.
--   Locks   the dead worker's advisory lock, tried, until this transaction ends.
--   Returns their ids.
--   Notifies nothing.
--   Tested by  test/sql/leases/reap_leases.test.ts
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
