-- dead_workers: the workers that have died without saying so
--   Guard   beat older than the grace and its advisory lock free; without a lock (behind a pooler) beat alone, five times
--           the grace. A worker that only looks dead loses its leases and is fenced: it never writes twice.
--   Locks   the dead worker's advisory lock, tried, until this transaction ends.
--   Gives   their ids.
--   Tells   nothing.
--   Tested by  test/sql/reap_leases.test.ts
create or replace function holdfast.dead_workers(p_grace interval)
  returns text[]
  language sql volatile
  set search_path = pg_catalog, pg_temp
as $$
  with silent as materialized (
    select w.id, w.has_lock
      from holdfast.worker as w
     where w.beat_at < holdfast.now() - case when w.has_lock then p_grace else 5 * p_grace end
  )
  select array(
    select s.id
      from silent as s
     where not s.has_lock
        or pg_try_advisory_xact_lock(holdfast.worker_lock_id(s.id))
  )
$$;
