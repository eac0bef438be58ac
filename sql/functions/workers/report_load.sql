-- report_load: records the load and the clock of a worker's process
--   Guard   none.
--   Locks   its own row.
--   Returns nothing; a worker without a row reports again after it has registered.
--   Notifies nothing.
-- Asynchronous commit: the next report replaces one that is lost in a crash of the server.
create or replace function holdfast.report_load_v1(
  p_worker text,
  p_is_alone boolean,
  p_loop_delay_ms real,
  p_clock timestamptz
)
  returns void
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
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
