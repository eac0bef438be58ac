-- due_maintenance: which maintenance is due, so that a worker calls only that
--   Guard   only what this worker can do: its queues and types, and the schedules whose input its code computes.
--   Locks   as first_lease_end; the answer is a hint, each operation decides for itself.
--   Returns one row: milliseconds until a lease may be lost, because its time is over or its worker silent, and until a
--           schedule needs a worker, each null where there is none; whether a bulk operation is open, statistics are due,
--           and a job in quarantine is due.
--   Notifies nothing.
create or replace function holdfast.due_maintenance_v1(p_queues text[], p_types text[], p_known text[])
  returns table (lost_in_ms bigint, schedule_in_ms bigint, has_bulk boolean, has_stats boolean, has_quarantined boolean)
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  with clock as materialized (
    select holdfast.now() as at
  )
  select least(ceil(1000 * extract(epoch from holdfast.first_lease_end() - c.at))::bigint, holdfast.next_heartbeat_timeout_v1()),
         (select ceil(1000 * extract(epoch from min(v.due_at) - c.at))::bigint from holdfast.served_schedules(p_known) as v),
         exists (select from holdfast.bulk_operation as b where b.state = 'open'),
         holdfast.statistics_are_due(),
         holdfast.quarantine_waits(p_queues, p_types)
    from clock as c
$$;
