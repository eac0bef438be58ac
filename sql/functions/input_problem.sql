-- input_problem: what keeps a JSON value from being stored and read back
--   Guard   none.
--   Locks   none.
--   Gives   null when the value is fine, else one sentence.
--   Tells   nothing.
-- Size counts as PostgreSQL prints the value (1e308 becomes 309 digits): that text is what every claim must carry.
create or replace function holdfast.input_problem(p_value jsonb)
  returns text
  language plpgsql immutable parallel safe
  set search_path = ''
as $$
declare
  v_text text := p_value::text;
begin
  if v_text is null then
    return 'is SQL NULL, expected a JSON value';
  elsif octet_length(v_text) <= 128 then
    return null;  -- too short to be deep, large or beyond the range of numbers
  elsif octet_length(v_text) > 262144 then
    return format('takes %s bytes as stored text, at most 262144 are allowed', octet_length(v_text));
  elsif jsonb_path_exists(p_value, 'strict $.**{64} ? (@.type() == "object" || @.type() == "array")') then
    return 'is nested deeper than 64 levels';
  elsif v_text ~ '[0-9]{200}[0-9]{109}'
    and jsonb_path_exists(p_value, 'strict $.** ? (@.type() == "number" && (@ > 1.7976931348623157e308 || @ < -1.7976931348623157e308))')
  then
    return 'has a number beyond the range of a double, which no client reads back';
  end if;
  return null;
end
$$;
