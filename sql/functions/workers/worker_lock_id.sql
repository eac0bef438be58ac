-- worker_lock_id: the number of a worker's advisory lock
--   Guard   none.
--   Locks   none.
--   Returns a number that no other use of advisory locks here has, unless a hash collides.
--   Notifies nothing.
--   Tested by  test/sql/leases/reap_leases.test.ts
create or replace function holdfast.worker_lock_id(p_worker text)
  returns bigint
  language sql immutable parallel safe
as $$
  select hashtextextended('holdfast.worker:' || p_worker, 7245905)
$$;
