-- check_inputs: refuses an enqueue of inputs that cannot all be stored
--   Guard   none.
--   Locks   none.
--   Returns nothing; raises INVALID_OPTION, or INVALID_INPUT naming the first bad input's place from 0.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_inputs.test.ts
create or replace function holdfast.check_inputs(p_inputs jsonb, p_common jsonb)
  returns void
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_bad record;
begin
  perform holdfast.check_common(p_common);
  if not p_common ? 'type' or p_common ?| array['input', 'key', 'dedupe_id'] then
    perform holdfast.refuse('INVALID_OPTION', 'common options need a type, and can have no input, key or dedupe_id here',
      p_common - 'input');
  elsif jsonb_typeof(p_inputs) is distinct from 'array' then
    perform holdfast.refuse('INVALID_OPTION', 'inputs must be a JSON array',
      jsonb_build_object('received', left(p_inputs::text, 100)));
  end if;

  select i.place - 1 as place, holdfast.input_problem(i.value) as problem
    into v_bad
    from jsonb_array_elements(p_inputs) with ordinality as i(value, place)
   where not holdfast.is_short(i.value)
     and holdfast.input_problem(i.value) is not null
   limit 1;
  if found then
    perform holdfast.refuse('INVALID_INPUT', 'input ' || v_bad.problem, jsonb_build_object('place', v_bad.place));
  end if;
end
$$;
