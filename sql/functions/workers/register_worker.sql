-- register_worker: records a worker and what it serves; deregister_worker: removes one that has stopped
--   Guard   none; its id is fresh at every start.
--   Locks   its own row.
--   Returns nothing.
--   Notifies nothing.
create or replace function holdfast.register_worker_v1(
  p_worker text, p_pod text, p_pid integer, p_version text, p_queues text[], p_types text[], p_concurrency integer
)
  returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  insert into holdfast.worker (id, pod, pid, version, queues, types, concurrency, started_at, heartbeat_at)
  values (p_worker, p_pod, p_pid, p_version, p_queues, p_types, p_concurrency, holdfast.now(), holdfast.now())
  on conflict (id) do update
     set pod = excluded.pod, pid = excluded.pid, version = excluded.version, queues = excluded.queues,
         types = excluded.types, concurrency = excluded.concurrency, heartbeat_at = excluded.heartbeat_at
$$;

create or replace function holdfast.deregister_worker_v1(p_worker text) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ delete from holdfast.worker as w where w.id = p_worker $$;

create or replace function holdfast.register_worker(
  worker text, pod text, pid integer, version text, queues text[], types text[], concurrency integer
)
  returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.register_worker_v1(worker, pod, pid, version, queues, types, concurrency) $$;

create or replace function holdfast.deregister_worker(worker text) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.deregister_worker_v1(worker) $$;
