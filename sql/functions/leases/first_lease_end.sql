-- first_lease_end: when the first of all leases is over, as one worker for all has found out
--   Guard   none; a hint.
--   Locks   the row of lease_poll, skip locked: one looks, others take what the last look found.
--   Returns the moment, or null without leases. What it says of the future may be two seconds old, or twenty times as old as a
--           look takes; where the moment has come, one worker at a time is told, who looked just now.
--   Notifies nothing.
--   Tested by  test/sql/maintenance/due_maintenance.test.ts
-- There is no index by end: it would cost every claim a tenth of its time. So a look reads the whole of lease with all its dead
-- rows, of which a busy queue leaves a hundred thousand a second, and more while an old snapshot is held.
create or replace function holdfast.first_lease_end()
  returns timestamptz
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_look holdfast.lease_poll;
  v_first_end timestamptz;
begin
  select l.* into v_look from holdfast.lease_poll as l;
  -- A look of the future was made by another clock.
  if v_now >= v_look.polled_at and v_now < v_look.polled_at + greatest(interval '2 seconds', 20 * v_look.took)
    and (v_look.first_end > v_now) is not false
  then
    return v_look.first_end;
  end if;
  if v_look.one then
    perform from holdfast.lease_poll as l for update skip locked;
    if not found then
      return case when v_look.first_end > v_now then v_look.first_end end;
    end if;
  end if;
  v_first_end := (select min(l.locked_until) from holdfast.lease as l);
  perform set_config('synchronous_commit', 'off', true);  -- what a crash of the server forgets is looked up again
  insert into holdfast.lease_poll as k (polled_at, took, first_end)
  values (v_now, holdfast.now() - v_now, v_first_end)
  on conflict (one) do update
     set polled_at = excluded.polled_at, took = excluded.took, first_end = excluded.first_end;
  return v_first_end;
end
$$;
