-- input_problem: what keeps a JSON value from being stored and read back
--   Guard   none.
--   Locks   none.
--   Returns null when the value is fine, else one sentence.
--   Notifies nothing.
-- Without a search_path of its own, which takes as long as the check itself: it is called once per member, under its caller's.
-- Size counts as PostgreSQL prints the value (1e308 becomes 309 digits): that text is what every claim must carry.
create or replace function holdfast.input_problem(p_value jsonb) returns text
  language plpgsql immutable parallel safe
as $$
declare
  v_beyond constant jsonpath := jsonpath 'strict $.** ? (@.type() == "number" && (@ > 1.7976931348623157e308
    || @ < -1.7976931348623157e308 || @ != 0 && @ < 4.9e-324 && @ > -4.9e-324))';
  v_size constant integer := pg_column_size(p_value);
  v_text text;
begin
  -- A few bytes of jsonb can be a gigabyte of digits (9,000 times 1e131071): a large value is checked before it is printed.
  if p_value is null then
    return 'is SQL NULL, expected a JSON value';
  elsif v_size > 2097152 then
    return 'takes more than 262144 bytes as stored text';
  elsif v_size > 2000 and jsonb_path_exists(p_value, v_beyond) then
    return 'has a number beyond the range of a double, which no client reads back';
  end if;

  v_text := p_value::text;
  if octet_length(v_text) <= 128 then
    return null;  -- too short to be deep, large or beyond the range of numbers
  elsif octet_length(v_text) > 262144 then
    return format('takes %s bytes as stored text, at most 262144 are allowed', octet_length(v_text));
  elsif jsonb_path_exists(p_value, 'strict $.**{64} ? (@.type() == "object" || @.type() == "array")') then
    return 'is nested deeper than 64 levels';
  elsif v_size <= 2000 and v_text ~ '[0-9]{200}[0-9]{109}' and jsonb_path_exists(p_value, v_beyond) then
    return 'has a number beyond the range of a double, which no client reads back';
  end if;
  return null;
end
$$;

-- Whether a value is too short to be large, deep or beyond the range of numbers; where it is not, input_problem decides. What is
-- long as stored may be far longer as text and is not printed here. Without settings of its own, and no more immutable than
-- pg_column_size, so that the planner puts its body where it is called.
create or replace function holdfast.is_short(p_value jsonb) returns boolean
  language sql stable parallel safe
as $$ select pg_column_size(p_value) <= 1000 and octet_length(p_value::text) <= 128 $$;
