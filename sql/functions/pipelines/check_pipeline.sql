-- check_pipeline: refuses a pipeline with an option, an input or a step that is not valid
--   Guard   none.
--   Locks   none.
--   Returns nothing; raises INVALID_OPTION, INVALID_INPUT or PIPELINE_TOO_LARGE with the place of the first bad step, from 0.
--   Notifies nothing.
--   Tested by  test/sql/pipelines/enqueue_pipeline.test.ts
create or replace function holdfast.check_pipeline(p_pipeline jsonb, p_steps jsonb)
  returns void
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_input constant text := holdfast.input_problem(coalesce(p_pipeline -> 'input', 'null'));
  v_edges bigint;
  v_bad record;
begin
  if jsonb_typeof(p_pipeline) is distinct from 'object' or jsonb_typeof(p_steps) is distinct from 'array' then
    perform holdfast.refuse('INVALID_OPTION', 'give a JSON object for the pipeline and a JSON array of its steps');
  elsif coalesce(p_pipeline ->> 'name', '') !~ '^[^[:cntrl:]]{1,100}$' then
    perform holdfast.refuse('INVALID_OPTION',
      'the name of a pipeline must be text of 1 to 100 characters without control characters',
      jsonb_build_object('received', left((p_pipeline -> 'name')::text, 100)));
  elsif p_pipeline ->> 'on_failure' not in ('stop', 'continue', 'compensate') then
    perform holdfast.refuse('INVALID_OPTION', 'on_failure must be stop, continue or compensate',
      jsonb_build_object('received', left(p_pipeline ->> 'on_failure', 100)));
  elsif v_input is not null then
    perform holdfast.refuse('INVALID_INPUT', 'input of the pipeline ' || v_input);
  elsif jsonb_array_length(p_steps) = 0 then
    perform holdfast.refuse('INVALID_OPTION', 'a pipeline needs at least one step');
  elsif jsonb_array_length(p_steps) > 20000 then
    perform holdfast.refuse('PIPELINE_TOO_LARGE', format('the pipeline has %s steps, at most 20000 are allowed',
      jsonb_array_length(p_steps)), jsonb_build_object('steps', jsonb_array_length(p_steps), 'most', 20000));
  end if;

  select s.place - 1 as place, b.problem
    into v_bad
    from jsonb_array_elements(p_steps) with ordinality as s(step, place)
   cross join lateral (
     select case
       when jsonb_typeof(s.step) <> 'object' then 'a step must be a JSON object'
       when coalesce(s.step ->> 'name', '') !~ '^[^[:cntrl:]]{1,120}$'
         then 'the name of a step must be text of 1 to 120 characters without control characters'
       when s.step ? 'after' and (jsonb_typeof(s.step -> 'after') <> 'array'
         or jsonb_path_exists(s.step -> 'after', 'strict $[*] ? (@.type() != "string")'))
         then 'after must be a list of names of steps'
       when s.step ? 'compensate' and jsonb_typeof(s.step -> 'compensate') <> 'object'
         then 'compensate must be a JSON object with a type'
       when s.step ?| array['dedupe_id', 'run_at', 'delay', 'pipeline_id'] or s.step ->> 'key_policy' = 'coalesce'
         then 'a step cannot have dedupe_id, run_at, delay, pipeline_id or a coalescing key'
     end as problem
   ) as b
   where b.problem is not null
   order by s.place
   limit 1;
  if found then
    perform holdfast.refuse('INVALID_OPTION', v_bad.problem, jsonb_build_object('place', v_bad.place));
  end if;

  select sum(jsonb_array_length(s.step -> 'after')) into v_edges from jsonb_array_elements(p_steps) as s(step);
  if v_edges > 100000 then
    perform holdfast.refuse('PIPELINE_TOO_LARGE',
      format('the pipeline has %s dependencies, at most 100000 are allowed', v_edges),
      jsonb_build_object('edges', v_edges, 'most', 100000));
  end if;
  perform holdfast.check_members((select jsonb_agg(s.step - array['name', 'after', 'compensate'] order by s.place)
    from jsonb_array_elements(p_steps) with ordinality as s(step, place)), '{}');
  perform holdfast.check_members(coalesce((select jsonb_agg(s.step -> 'compensate' order by s.place)
    from jsonb_array_elements(p_steps) with ordinality as s(step, place) where s.step ? 'compensate'), '[]'), '{}');
end
$$;
