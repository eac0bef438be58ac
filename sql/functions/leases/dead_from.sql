-- dead_from: from when on a worker that does not heartbeat again is taken for dead
--   Guard   none.
--   Locks   none.
--   Returns its last heartbeat and the grace; five times the grace where no lock tells of its death (behind a pooler).
--   Notifies nothing.
--   Tested by  test/sql/workers/next_heartbeat_timeout.test.ts
create or replace function holdfast.dead_from(p_worker holdfast.worker, p_grace interval)
  returns timestamptz
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select p_worker.heartbeat_at + case when p_worker.has_lock then p_grace else 5 * p_grace end
$$;
