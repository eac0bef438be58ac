-- check_common: refuses what all members of an enqueue share, if it cannot be stored
--   Guard   none.
--   Locks   none.
--   Returns nothing; raises INVALID_OPTION or INVALID_INPUT.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_jobs.test.ts
create or replace function holdfast.check_common(p_common jsonb)
  returns void
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text;
begin
  if jsonb_typeof(p_common) is distinct from 'object' then
    perform holdfast.refuse('INVALID_OPTION',
      'common options must be a JSON object, received ' || coalesce(left(p_common::text, 100), 'NULL'),
      jsonb_build_object('place', 0));
  end if;
  v_problem := case
    when p_common ? 'type' and not holdfast.is_type(p_common -> 'type')
      then 'type must be text of 1 to 100 characters without control characters'
    else holdfast.option_problem(p_common - array['type', 'input'])
  end;
  if v_problem is not null then
    perform holdfast.refuse('INVALID_OPTION', v_problem, jsonb_build_object('place', 0));
  elsif p_common ? 'input' then
    v_problem := holdfast.input_problem(p_common -> 'input');
    if v_problem is not null then
      perform holdfast.refuse('INVALID_INPUT', 'input ' || v_problem, jsonb_build_object('place', 0));
    end if;
  end if;
end
$$;
