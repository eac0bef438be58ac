-- worker_details: the workers in order of their id, with what each says of itself
--   Guard   none.
--   Locks   none.
--   Returns up to p_n rows; `silent_ms` is the time since its last heartbeat.
--   Notifies nothing.
--   Tested by  test/sql/workers/report_load.test.ts
create or replace function holdfast.worker_details_v1(p_n integer default 1000)
  returns table (
    id text,
    pod text,
    pid integer,
    version text,
    queues text[],
    types text[],
    concurrency integer,
    started_at timestamptz,
    silent_ms bigint,
    has_lock boolean,
    rss_bytes bigint,
    is_alone boolean,
    loop_delay_ms real,
    clock_offset_ms real
  )
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select w.id, w.pod, w.pid, w.version, w.queues, w.types, w.concurrency, w.started_at,
         (1000 * extract(epoch from holdfast.now() - w.heartbeat_at))::bigint,
         w.has_lock, w.rss_bytes, w.is_alone, w.loop_delay_ms, w.clock_offset_ms
    from holdfast.worker as w
   order by w.id
   limit least(greatest(p_n, 1), 10000)
$$;
