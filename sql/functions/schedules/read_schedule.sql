-- read_schedule: the settings of a schedule as a row, with defaults
--   Guard   the settings are checked; a JSON null counts as absent, except as input.
--   Locks   none.
--   Returns a row that is not stored; raises INVALID_OPTION.
--   Notifies nothing.
--   Tested by  test/sql/schedules/create_schedule.test.ts
create or replace function holdfast.read_schedule(p_settings jsonb)
  returns holdfast.schedule
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings jsonb := p_settings;
  v_problem text;
  v_row holdfast.schedule;
begin
  if jsonb_typeof(p_settings) = 'object' then
    v_settings := coalesce((
      select jsonb_object_agg(o.key, o.value) from jsonb_each(p_settings) as o where o.value <> 'null' or o.key = 'input'
    ), '{}');
  end if;
  v_problem := holdfast.schedule_problem(v_settings);
  if v_problem is not null then
    perform holdfast.refuse('INVALID_OPTION', v_problem, jsonb_build_object('job_key', v_settings -> 'job_key'));
  end if;

  v_row.job_key := v_settings ->> 'job_key';
  v_row.type := v_settings ->> 'type';
  v_row.cron := v_settings ->> 'cron';
  v_row.every_ms := v_settings ->> 'every_ms';
  v_row.timezone := coalesce(v_settings ->> 'timezone', 'UTC');
  v_row.input_from_code := coalesce((v_settings ->> 'input_from_code')::boolean, false);
  v_row.input := case when not v_row.input_from_code then coalesce(v_settings -> 'input', '{}') end;
  v_row.options := coalesce(v_settings -> 'options', '{}');
  v_row.missed := coalesce(v_settings ->> 'missed', 'last');
  v_row.window_ms := coalesce((v_settings ->> 'window_ms')::bigint, 86400000);
  v_row.overlap := coalesce(v_settings ->> 'overlap', 'allow');
  v_row.gap := v_settings ->> 'gap';
  v_row.twice := v_settings ->> 'twice';
  v_row.jitter_ms := coalesce((v_settings ->> 'jitter_ms')::bigint, 0);
  v_row.starts_at := v_settings ->> 'starts_at';
  v_row.ends_at := v_settings ->> 'ends_at';
  return v_row;
end
$$;
