-- report_load: a worker says how its process fares
--   Guard   none.
--   Locks   its own row.
--   Returns nothing; a worker whose row is gone says it again after it has registered.
--   Notifies nothing.
-- Asynchronous commit: a report that a crash of the server forgets is made again seconds later.
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
