-- record_heartbeat: records that a worker is alive; report_load: records the load and the clock of its process
--   Guard   none.
--   Locks   its own row.
--   Returns false when its row is gone, so that it registers again; report_load nothing.
--   Notifies nothing.
-- Asynchronous commit: the next heartbeat or report replaces one that is lost in a crash of the server.
create or replace function holdfast.record_heartbeat_v1(p_worker text, p_rss_bytes bigint default null) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  update holdfast.worker as w set heartbeat_at = holdfast.now(), rss_bytes = p_rss_bytes where w.id = p_worker;
  return found;
end
$$;

create or replace function holdfast.report_load_v1(p_worker text, p_is_alone boolean, p_loop_delay_ms real, p_clock timestamptz)
  returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  update holdfast.worker as w
     set is_alone = p_is_alone,
         loop_delay_ms = p_loop_delay_ms,
         clock_offset_ms = 1000 * extract(epoch from p_clock - holdfast.now())
   where w.id = p_worker;
end
$$;

create or replace function holdfast.record_heartbeat(worker text, rss_bytes bigint default null) returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.record_heartbeat_v1(worker, rss_bytes) $$;
