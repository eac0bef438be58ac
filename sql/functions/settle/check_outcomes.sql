-- check_outcomes: refuses a batch with an unknown outcome, and a suspension whose waits are missing or not valid
--   Guard   suspensions need READ COMMITTED: events are locked in one statement and read in the next.
--   Locks   none.
--   Returns nothing; raises WRONG_ISOLATION or INVALID_OPTION. A member without its lease is not refused: its lease is lost.
--   Notifies nothing.
--   Tested by  test/sql/settle/suspend_jobs.test.ts
-- check_settlements is its first part, for all that take a batch of leases: the batch must be an array of objects.
create or replace function holdfast.check_outcomes(p_settlements jsonb)
  returns void
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_suspended jsonb;
  v_wait record;
begin
  perform holdfast.check_settlements(p_settlements);
  if exists (
    select
      from jsonb_to_recordset(p_settlements) as m(outcome text)
     where (m.outcome in ('complete', 'fail', 'snooze', 'suspend', 'release', 'cancel')) is not true
  ) then
    perform holdfast.refuse('INVALID_OPTION',
      'every member needs an outcome: complete, fail, snooze, suspend, release or cancel');
  end if;
  v_suspended := jsonb_path_query_array(p_settlements, 'strict $[*] ? (@.outcome == "suspend")');
  if v_suspended = '[]' then
    return;
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    perform holdfast.refuse('WRONG_ISOLATION', 'waits need a READ COMMITTED transaction',
      jsonb_build_object('received', current_setting('transaction_isolation')));
  elsif exists (
    select
      from jsonb_array_elements(v_suspended) as m(member)
     where jsonb_typeof(m.member -> 'waits') is distinct from 'array' or m.member -> 'waits' = '[]'
  ) then
    perform holdfast.refuse('INVALID_OPTION', 'every suspended member needs the waits that it is suspended for');
  end if;
  for v_wait in
    select w.kind, w.name, w.event, w.delay_ms
      from jsonb_array_elements(v_suspended) as m(member)
     cross join lateral jsonb_to_recordset(m.member -> 'waits')
        as w(kind text, name text, event text, delay_ms double precision)
  loop
    perform holdfast.check_label('wait', v_wait.name);
    if v_wait.kind = 'event' then
      perform holdfast.check_label('event', v_wait.event);
    end if;
    if v_wait.kind is distinct from 'event' and (v_wait.kind is distinct from 'sleep' or v_wait.event is not null) then
      perform holdfast.refuse('INVALID_OPTION', 'a wait is a sleep, or of kind event with its event',
        jsonb_build_object('received', v_wait.kind));
    elsif v_wait.delay_ms is null or v_wait.delay_ms not between 0 and 315360000000 then
      perform holdfast.refuse('INVALID_OPTION', 'delay_ms must be a number from 0 to ten years',
        jsonb_build_object('received', v_wait.delay_ms));
    end if;
  end loop;
end
$$;

create or replace function holdfast.check_settlements(p_settlements jsonb)
  returns void
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_settlements) is distinct from 'array'
    or jsonb_path_exists(p_settlements, 'strict $[*] ? (@.type() != "object")')
  then
    perform holdfast.refuse('INVALID_OPTION', 'give a JSON array of objects with job_id, token and lease_id',
      jsonb_build_object('received', left(p_settlements::text, 100)));
  end if;
end
$$;
