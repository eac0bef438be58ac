-- sleep_worker: records until when a worker sleeps, or that it is awake (null)
--   Guard   none.
--   Locks   its own row.
--   Returns milliseconds until the first job that will fall due for it, null when there is none.
--   Notifies nothing. An enqueue that commits after this notifies; one in progress may not, so the worker polls once more.
create or replace function holdfast.sleep_worker_v1(p_worker text, p_queues text[], p_sleep_ms integer) returns bigint
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_due timestamptz;
begin
  perform set_config('synchronous_commit', 'off', true);  -- a hint that may be lost in a crash of the server
  update holdfast.worker as w
     set sleeping_until = v_now + make_interval(secs => 0.001 * p_sleep_ms)
   where w.id = p_worker;
  if p_sleep_ms is null then
    return null;
  end if;
  select min(n.run_at)
    into v_due
    from unnest(p_queues) as q(name)
   cross join generate_series(0, 9) as p(priority)
   cross join lateral (
     select r.run_at
       from holdfast.ready as r
      where r.queue = q.name
        and r.priority = p.priority
        and r.run_at > v_now
        and not r.parked
        and r.crashes < 2
      order by r.run_at, r.job_id
      limit 1
   ) as n;
  return ceil(extract(epoch from v_due - v_now) * 1000)::bigint;
end
$$;

create or replace function holdfast.sleep_worker(worker text, queues text[], sleep_ms integer) returns bigint
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.sleep_worker_v1(worker, queues, sleep_ms) $$;
