-- read_schedule: the settings of a schedule as a row, with defaults
--   Guard   the settings are checked; a JSON null counts as absent, except as input.
--   Locks   none.
--   Returns the row of a new schedule, not stored; raises INVALID_OPTION.
--   Notifies nothing.
--   Tested by  test/sql/schedules/create_schedule.test.ts
create or replace function holdfast.read_schedule(p_settings jsonb) returns holdfast.schedule
  language plpgsql stable set search_path = pg_catalog, pg_temp
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
  v_row.enabled := true;
  v_row.version := 1;
  v_row.is_edited := false;
  v_row.counts_from := holdfast.now();
  v_row.updated_at := holdfast.now();
  return v_row;
end
$$;

-- Null, or one sentence that says what is wrong. Whether cron and time zone make sense, the worker finds that plans the ticks.
create or replace function holdfast.schedule_problem(p_settings jsonb) returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := array['job_key', 'type', 'cron', 'every_ms', 'timezone', 'input', 'input_from_code', 'options',
                                   'missed', 'window_ms', 'overlap', 'gap', 'twice', 'jitter_ms', 'starts_at', 'ends_at'];
  v_options constant text[] := array['queue', 'priority', 'max_attempts', 'tags', 'key', 'key_policy', 'coalesce'];
  v_name text;
  v_value jsonb;
  v_text text;
  v_is_fine boolean;
begin
  if jsonb_typeof(p_settings) is distinct from 'object' then
    return 'a schedule must be a JSON object';
  elsif not p_settings ?& array['job_key', 'type'] then
    return 'a schedule needs job_key and type';
  elsif (p_settings ? 'cron') = (p_settings ? 'every_ms') then
    return 'a schedule has either cron or every_ms';
  end if;
  for v_name, v_value in select o.key, o.value from jsonb_each(p_settings) as o loop
    v_text := p_settings ->> v_name;
    v_is_fine := case v_name
      -- Nine characters are left for "schedule:", which makes it a tag and a key.
      when 'job_key' then jsonb_typeof(v_value) = 'string' and v_text ~ '^[^[:cntrl:]]{1,90}$'
      when 'type' then jsonb_typeof(v_value) = 'string' and v_text ~ '^[^[:cntrl:]]{1,100}$'
      when 'cron' then jsonb_typeof(v_value) = 'string' and length(v_text) <= 100 and v_text ~ '^\s*[^\s@]+(\s+[^\s@]+){4,5}\s*$'
      when 'every_ms' then v_text ~ '^\d{4,12}$' and v_text::bigint <= 315360000000
      when 'timezone' then jsonb_typeof(v_value) = 'string' and v_text ~ '^[A-Za-z0-9_+/-]{1,64}$'
      when 'input' then holdfast.input_problem(v_value) is null
      when 'input_from_code' then jsonb_typeof(v_value) = 'boolean' and not (v_value = 'true' and p_settings ? 'input')
      when 'options' then jsonb_typeof(v_value) = 'object' and v_value - v_options = '{}'
        and holdfast.option_problem(v_value) is null and jsonb_array_length(coalesce(v_value -> 'tags', '[]')) < 20
      when 'missed' then v_text in ('skip', 'last', 'all')
      when 'window_ms' then v_text ~ '^\d{1,12}$' and v_text::bigint <= 315360000000
      when 'overlap' then v_text in ('allow', 'skip')
        or v_text = 'supersede' and not coalesce(p_settings #> '{options}' ? 'key', false)
      when 'gap' then v_text in ('after', 'skip')
      when 'twice' then v_text in ('first', 'second', 'both')
      when 'jitter_ms' then v_text ~ '^\d{1,12}$' and v_text::bigint <= 315360000000
      when 'starts_at' then holdfast.option_problem(jsonb_build_object('run_at', v_value)) is null
      when 'ends_at' then holdfast.option_problem(jsonb_build_object('run_at', v_value)) is null
    end;
    if v_is_fine is null and v_name <> all (v_known) then
      return format('a schedule has no setting "%s"; known are %s', left(v_name, 100), array_to_string(v_known, ', '));
    elsif v_is_fine is not true then
      return format('%s of a schedule cannot be %s', v_name, left(v_value::text, 100));
    end if;
  end loop;
  if (p_settings ->> 'ends_at')::timestamptz <= (p_settings ->> 'starts_at')::timestamptz then
    return 'ends_at of a schedule must be later than its starts_at';
  end if;
  return null;
end
$$;
