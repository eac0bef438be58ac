-- schedule_settings: what a row of schedule was set to, as JSON
--   Guard   none.
--   Locks   none.
--   Returns the settings that read_schedule makes the same row of.
--   Notifies nothing.
--   Tested by  test/sql/schedules/put_schedules.test.ts
create or replace function holdfast.schedule_settings(p_row holdfast.schedule)
  returns jsonb
  language sql stable
  set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'  -- moments are printed the same in every session
as $$
  select jsonb_strip_nulls(jsonb_build_object(
           'job_key', p_row.job_key, 'type', p_row.type, 'cron', p_row.cron, 'every_ms', p_row.every_ms,
           'timezone', p_row.timezone, 'input_from_code', p_row.input_from_code, 'missed', p_row.missed,
           'window_ms', p_row.window_ms, 'overlap', p_row.overlap, 'gap', p_row.gap, 'twice', p_row.twice,
           'jitter_ms', p_row.jitter_ms, 'starts_at', p_row.starts_at, 'ends_at', p_row.ends_at, 'options', p_row.options))
         || case when p_row.input is null then '{}' else jsonb_build_object('input', p_row.input) end
$$;
