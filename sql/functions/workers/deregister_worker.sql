-- deregister_worker: removes a worker that has stopped
--   Guard   none.
--   Locks   its own row.
--   Returns nothing.
--   Notifies nothing.
create or replace function holdfast.deregister_worker_v1(p_worker text)
  returns void
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  delete from holdfast.worker as w where w.id = p_worker
$$;

create or replace function holdfast.deregister_worker(worker text)
  returns void
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select holdfast.deregister_worker_v1(worker) $$;
