-- first_lease_end: when the first of all leases ends; one worker reads it for all
--   Guard   none; a hint.
--   Locks   the row of lease_poll, skip locked: one worker reads the leases, the others get what the last poll found.
--   Returns the moment, or null without leases. A future moment may be two seconds old, or twenty times as old as a poll takes.
--           Only the worker that has just read the leases gets a moment that has passed.
--   Notifies nothing.
--   Tested by  test/sql/maintenance/due_maintenance.test.ts
-- An index by end would cost every claim a tenth of its time. So a poll reads the whole of lease with its dead rows. A busy
-- queue leaves a hundred thousand of these a second, and more while an old snapshot is open.
create or replace function holdfast.first_lease_end()
  returns timestamptz
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_poll holdfast.lease_poll;
  v_first_end timestamptz;
begin
  select l.* into v_poll from holdfast.lease_poll as l;
  -- A poll in the future was made by another clock.
  if v_now >= v_poll.polled_at and v_now < v_poll.polled_at + greatest(interval '2 seconds', 20 * v_poll.took)
    and (v_poll.first_end > v_now) is not false
  then
    return v_poll.first_end;
  end if;
  if v_poll.one then
    perform from holdfast.lease_poll as l for update skip locked;
    if not found then
      return case when v_poll.first_end > v_now then v_poll.first_end end;
    end if;
  end if;
  v_first_end := (select min(l.locked_until) from holdfast.lease as l);
  perform set_config('synchronous_commit', 'off', true);  -- after a crash of the server the next poll reads it again
  insert into holdfast.lease_poll as k (polled_at, took, first_end)
  values (v_now, holdfast.now() - v_now, v_first_end)
  on conflict (one) do update
     set polled_at = excluded.polled_at, took = excluded.took, first_end = excluded.first_end;
  return v_first_end;
end
$$;
