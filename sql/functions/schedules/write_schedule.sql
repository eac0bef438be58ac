-- write_schedule: stores new settings of a schedule
--   Guard   the caller holds the row.
--   Locks   nothing more.
--   Returns nothing. Where the timing changes, the version grows and a worker plans the next tick from now on.
--   Notifies nothing.
--   Tested by  test/sql/schedules/update_schedule.test.ts
create or replace function holdfast.write_schedule(p_new holdfast.schedule) returns void
  language sql volatile set search_path = pg_catalog, pg_temp
as $$
  update holdfast.schedule as s
     set type = p_new.type, cron = p_new.cron, every_ms = p_new.every_ms, timezone = p_new.timezone,
         input = p_new.input, input_from_code = p_new.input_from_code, options = p_new.options, missed = p_new.missed,
         window_ms = p_new.window_ms, overlap = p_new.overlap, gap = p_new.gap, twice = p_new.twice,
         jitter_ms = p_new.jitter_ms, starts_at = p_new.starts_at, ends_at = p_new.ends_at,
         version = case when t.is_kept then s.version else s.version + 1 end,
         next_tick = case when t.is_kept then s.next_tick end,
         counts_from = case when t.is_kept then s.counts_from else holdfast.now() end,
         locked_until = case when t.is_kept and s.fault is null then s.locked_until end,
         fault = null, updated_at = holdfast.now()
    from (
      select (o.cron, o.every_ms, o.timezone, o.gap, o.twice, o.starts_at, o.ends_at)
             is not distinct from
             (p_new.cron, p_new.every_ms, p_new.timezone, p_new.gap, p_new.twice, p_new.starts_at, p_new.ends_at) as is_kept
        from holdfast.schedule as o
       where o.job_key = p_new.job_key
    ) as t
   where s.job_key = p_new.job_key
$$;

-- What a row was set to, as JSON that read_schedule makes the same row of.
create or replace function holdfast.schedule_settings(p_row holdfast.schedule) returns jsonb
  language sql stable set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'  -- moments are printed the same in every session
as $$
  select jsonb_strip_nulls(jsonb_build_object(
           'job_key', p_row.job_key, 'type', p_row.type, 'cron', p_row.cron, 'every_ms', p_row.every_ms,
           'timezone', p_row.timezone, 'input_from_code', p_row.input_from_code, 'missed', p_row.missed,
           'window_ms', p_row.window_ms, 'overlap', p_row.overlap, 'gap', p_row.gap, 'twice', p_row.twice,
           'jitter_ms', p_row.jitter_ms, 'starts_at', p_row.starts_at, 'ends_at', p_row.ends_at, 'options', p_row.options))
         || case when p_row.input is null then '{}' else jsonb_build_object('input', p_row.input) end
$$;

-- Locks a schedule for an operator's operation, after another one on the same schedule; raises JOB_UNKNOWN.
create or replace function holdfast.lock_schedule(p_job_key text) returns holdfast.schedule
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_row holdfast.schedule;
begin
  select s.* into v_row from holdfast.schedule as s where s.job_key = p_job_key for update;
  if not found then
    perform holdfast.refuse('JOB_UNKNOWN', 'job_unknown', jsonb_build_object('job_key', left(p_job_key, 100)));
  end if;
  return v_row;
end
$$;
