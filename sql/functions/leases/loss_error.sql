-- loss_error: the error of an attempt that was reaped
--   Guard   none.
--   Locks   none.
--   Returns an error with the worker, its last heartbeat and memory, and the attempt's last log lines.
--   Notifies nothing.
--   Tested by  test/sql/leases/reap_leases.test.ts
create or replace function holdfast.loss_error(p_job_id bigint, p_worker text, p_has_crashed boolean, p_crashes integer)
  returns jsonb
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'name', case when p_has_crashed then 'WorkerDied' else 'LeaseLost' end,
    'message', case
      when p_has_crashed then format('worker %s died while it ran this job (death %s of at most 3)', p_worker, p_crashes)
      else format('worker %s did not renew its lease in time', p_worker)
    end,
    'worker', p_worker,
    'last_heartbeat', (select w.heartbeat_at from holdfast.worker as w where w.id = p_worker),
    'rss_bytes', (select w.rss_bytes from holdfast.worker as w where w.id = p_worker),
    'last_logs', (
      select jsonb_agg(g.message order by g.id)
        from (
          select g.id, g.message from holdfast.job_log as g where g.job_id = p_job_id order by g.id desc limit 5
        ) as g
    )
  ))
$$;
