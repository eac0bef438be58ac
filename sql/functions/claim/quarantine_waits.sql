-- quarantine_waits: whether a job that two workers died with is due in these queues
--   Guard   only what this worker has a handler for.
--   Locks   none; claim_quarantined decides.
--   Returns true or false.
--   Notifies nothing.
--   Tested by  test/sql/maintenance/due_maintenance.test.ts
create or replace function holdfast.quarantine_waits(p_queues text[], p_types text[])
  returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
      from holdfast.ready as r
     where r.queue = any (p_queues)
       and r.type = any (p_types)
       and not r.parked
       and r.crashes >= 2
       and r.run_at <= holdfast.now()
  )
$$;
