-- wake_workers: notifies sleeping workers that there may be work
--   Guard   none.
--   Locks   none.
--   Returns nothing.
--   Notifies channel holdfast_wake, empty payload, so that a transaction sends it once however often it asks.
-- 'sleepers' spares the commit lock that every NOTIFY takes: only if a worker of these queues sleeps past the moment.
create or replace function holdfast.wake_workers(p_queues text[], p_run_at timestamptz, p_wake text) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_wake = 'always'
    or p_wake = 'sleepers'
    and exists (select from holdfast.worker as w where w.sleeping_until > p_run_at and w.queues && p_queues)
  then
    perform pg_notify('holdfast_wake', '');
  elsif p_wake is null or p_wake not in ('always', 'sleepers', 'never') then
    perform holdfast.refuse('INVALID_OPTION', 'wake must be always, sleepers or never',
      jsonb_build_object('received', p_wake));
  end if;
end
$$;
