-- renew_worker: running → running, until later, for all leases of one worker
--   Guard   the leases are the worker's own: its id is new at every start, so no other process has it.
--   Locks   lease rows, skip locked: a locked one is being ended or its handler's transaction is open, and until then it cannot
--           be reaped.
--   Returns how many leases were extended; one with more than 0.7 of its time left is not written.
--   Notifies nothing.
-- The renewal watchdog calls it while its worker is blocked and cannot say which leases it has. Leases have no index by worker,
-- which each claim would have to write: this reads all leases, and only for as long as a worker is late.
create or replace function holdfast.renew_worker_v1(p_worker text)
  returns integer
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_held bigint[];
  v_types text[];
  v_seconds jsonb;
  v_renewed integer;
begin
  select array_agg(l.job_id), array_agg(distinct l.type)
    into v_held, v_types
    from holdfast.lease as l
   where l.locked_by = p_worker;
  v_seconds := holdfast.lease_seconds_by_type(v_types);

  update holdfast.lease as l
     set locked_until = v_now + make_interval(secs => (v_seconds ->> l.type)::integer)
   where l.job_id = any (array(
     select h.job_id
       from holdfast.lease as h
      where h.job_id = any (v_held)
        and h.locked_by = p_worker
        and h.locked_until <= v_now + make_interval(secs => 0.7 * (v_seconds ->> h.type)::integer)
        for update skip locked
   ));
  get diagnostics v_renewed = row_count;
  return v_renewed;
end
$$;
