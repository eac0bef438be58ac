-- release_worker_lock: a worker's session gives back the advisory lock that tells its death, for another session to take
--   Guard   the session has it.
--   Locks   its own row.
--   Returns true; false when the session did not have it. Until the other session has it, the heartbeat alone tells.
--   Notifies nothing.
-- Asked for by programs of revision 16 and before, whose keeper had a session of its own.
create or replace function holdfast.release_worker_lock_v1(p_worker text)
  returns boolean
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_had_lock constant boolean := pg_advisory_unlock(holdfast.worker_lock_id(p_worker));
begin
  update holdfast.worker as w set has_lock = false, heartbeat_at = holdfast.now() where v_had_lock and w.id = p_worker;
  return v_had_lock;
end
$$;
