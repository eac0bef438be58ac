-- option_problem: what is wrong with the options of an enqueue
--   Guard   none.
--   Locks   none.
--   Returns null when they are fine, else one sentence that names the option and shows what was received.
--   Notifies nothing.
-- Without a search_path of its own, which takes as long as the check itself: it is called once per member, under its caller's.
create or replace function holdfast.option_problem(p_options jsonb) returns text
  language plpgsql immutable parallel safe
as $$
declare
  v_known constant text[] := '{queue,priority,run_at,delay,key,key_policy,coalesce,max_attempts,pipeline_id,tags,dedupe_id,trace}';
  v_moment constant text := '^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[T ]([01]\d|2[0-3]):[0-5]\d'
    || '(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-5])(:?[0-5]\d)?)$';
  -- As many digits of each unit as an interval can hold.
  v_duration constant text := '^(\d{1,12}(\.\d{1,6})?\s*(ms|milliseconds?)|\d{1,9}(\.\d{1,6})?\s*(s|secs?|seconds?)|'
    || '\d{1,7}(\.\d{1,6})?\s*(m|mins?|minutes?|h|hours?)|\d{1,5}(\.\d{1,6})?\s*(d|days?))$';
  v_name text;
  v_value jsonb;
  v_text text;
  v_is_fine boolean;
begin
  if p_options = '{}' then
    return null;
  elsif jsonb_typeof(p_options) is distinct from 'object' then
    return format('options must be a JSON object, received %s', coalesce(left(p_options::text, 100), 'NULL'));
  elsif pg_column_size(p_options) > 16384 then
    return 'options are larger than 16384 bytes';  -- all of them at their longest take less; printing more could take a gigabyte
  elsif p_options - v_known <> '{}' then
    return format('unknown option "%s"; known are %s',
      left((select min(o.name) from jsonb_object_keys(p_options - v_known) as o(name)), 100), array_to_string(v_known, ', '));
  end if;
  -- Statements instead of one query or one expression: only the options that are given take time.
  foreach v_name in array v_known loop
    continue when not p_options ? v_name;
    v_value := p_options -> v_name;
    v_text := p_options ->> v_name;
    case v_name
      when 'queue' then
        v_is_fine := jsonb_typeof(v_value) = 'string' and holdfast.is_name(v_text);
      when 'priority' then
        v_is_fine := v_text ~ '^[0-9]$';
      when 'max_attempts' then
        v_is_fine := v_text ~ '^\d{1,4}$' and v_text::integer between 1 and 1000;
      when 'run_at' then
        v_is_fine := jsonb_typeof(v_value) = 'string' and v_text ~ v_moment;
        if v_is_fine then
          v_is_fine := substr(v_text, 9, 2)::integer <= extract(day from
            make_date(substr(v_text, 1, 4)::integer, substr(v_text, 6, 2)::integer, 1) + interval '1 month' - interval '1 day');
        end if;
      when 'delay' then
        v_is_fine := v_text ~ case jsonb_typeof(v_value) when 'number' then '^\d{1,12}(\.\d{1,6})?$' else v_duration end;
      when 'key' then
        v_is_fine := jsonb_typeof(v_value) = 'string' and v_text <> '' and octet_length(v_text) <= 512;
      when 'key_policy' then
        v_is_fine := v_text in ('exclusive', 'supersede', 'coalesce') and p_options ? 'key';
      when 'coalesce' then
        v_is_fine := v_text in ('replace', 'keep') and p_options ->> 'key_policy' = 'coalesce';
      when 'pipeline_id' then
        v_is_fine := v_text ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
      when 'tags' then
        v_is_fine := jsonb_typeof(v_value) = 'array' and jsonb_array_length(v_value) <= 20
          and not jsonb_path_exists(v_value, 'strict $[*] ? (@.type() != "string" || @ like_regex "^(.{101,}|)$" flag "s")');
      when 'dedupe_id' then
        v_is_fine := jsonb_typeof(v_value) = 'string' and v_text <> '' and octet_length(v_text) <= 512;
      when 'trace' then
        v_is_fine := v_text ~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$';
    end case;
    if v_is_fine is not true then
      return format('option %s cannot be %s', v_name, left(v_value::text, 100));
    end if;
  end loop;
  if p_options ? 'run_at' and p_options ? 'delay' then
    return 'give run_at or delay, not both';
  end if;
  return null;
end
$$;
