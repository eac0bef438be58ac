-- make_outcome_partitions: makes the partitions of outcome for the next days
--   Guard   one at a time, by an advisory lock of this transaction; others return 0 at once.
--   Locks   outcome (share update exclusive) and its default partition, for a moment; gives up after a second.
--   Returns how many days were made. Outcomes of such a day move into it from the default partition.
--   Notifies nothing.
create or replace function holdfast.make_outcome_partitions_v1(p_days integer default 7) returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set lock_timeout = '1s'
  set timezone = 'UTC'  -- days are days of UTC, whatever the session thinks
as $$
declare
  v_today constant date := holdfast.now()::date;
  v_made integer := 0;
  v_day date;
  v_name text;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('holdfast.outcome', 7245904)) then
    return 0;
  end if;
  for v_day in select v_today + d.offset from generate_series(0, least(p_days, 60)) as d("offset") loop
    v_name := 'outcome_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass(format('holdfast.%I', v_name)) is not null;
    execute format('create table holdfast.%I (like holdfast.outcome including defaults including constraints)', v_name);
    execute format(
      'with moved as (delete from holdfast.outcome_default where finished_at >= %L and finished_at < %L returning *)
       insert into holdfast.%I select * from moved', v_day::timestamptz, (v_day + 1)::timestamptz, v_name);
    execute format('alter table holdfast.outcome attach partition holdfast.%I for values from (%L) to (%L)',
      v_name, v_day::timestamptz, (v_day + 1)::timestamptz);
    v_made := v_made + 1;
  end loop;
  return v_made;
end
$$;
