-- read_inputs: new jobs that differ in nothing but their input, as rows
--   Guard   the options and every input can be stored; one bad input refuses all.
--   Locks   none.
--   Returns the ids and the rows for place_jobs and place_ready, in the order of the inputs; the queue and when they are due.
--           Raises INVALID_OPTION, or INVALID_INPUT naming the first bad input's place from 0.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_inputs.test.ts
-- Without settings of its own: it runs under its callers', once per call.
create or replace function holdfast.read_inputs(
  p_inputs jsonb,
  p_common jsonb,
  p_now timestamptz,
  out ids bigint[],
  out jobs holdfast.job[],
  out ready holdfast.ready[],
  out queue text,
  out run_at timestamptz
)
  language plpgsql volatile
as $$
declare
  v_type constant text := p_common ->> 'type';
  v_bad record;
  v_common record;
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

  v_common := holdfast.read_common(v_type, p_common, p_now);
  queue := v_common.queue;
  run_at := v_common.run_at;
  select coalesce(array_agg(i.id), '{}'),
         array_agg(holdfast.job_row(i.id, v_type, v_common.queue, v_common.priority, v_common.max_attempts,
                                    v_common.pipeline_id, v_common.tags, i.value, p_now, v_common.trace)),
         array_agg(holdfast.ready_row(i.id, v_type, v_common.queue, v_common.priority, v_common.run_at, v_common.max_attempts))
    into ids, jobs, ready
    from (select nextval('holdfast.job_id_seq') as id, e.value from jsonb_array_elements(p_inputs) as e(value)) as i;
end
$$;
