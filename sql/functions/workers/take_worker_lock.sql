-- take_worker_lock: a worker's session takes the advisory lock that is free when the worker is dead
--   Guard   the session is the worker's own and stays: behind a transaction pooler it must not be called.
--   Locks   the session's advisory lock of this worker, until the session ends.
--   Returns true; false when an earlier session of the worker still has it, and only its heartbeat shows that it lives.
--   Notifies nothing.
create or replace function holdfast.take_worker_lock_v1(p_worker text) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_has_lock constant boolean := pg_try_advisory_lock(holdfast.worker_lock_id(p_worker));
begin
  update holdfast.worker as w set has_lock = v_has_lock, heartbeat_at = holdfast.now() where w.id = p_worker;
  return v_has_lock;
end
$$;

-- A number that no other use of advisory locks here has, unless a hash collides.
create or replace function holdfast.worker_lock_id(p_worker text) returns bigint
  language sql immutable parallel safe
as $$ select hashtextextended('holdfast.worker:' || p_worker, 7245905) $$;
