-- enqueue_inputs: none → pending for jobs that differ in nothing but their input
--   Guard   the options and every input are checked before the first job is stored; one bad input refuses all.
--   Locks   none.
--   Returns the ids, in the order of the inputs; raises INVALID_OPTION, or INVALID_INPUT naming the first bad input's place from 0.
--   Notifies workers, as enqueue_jobs does.
-- It takes half the time of enqueue_jobs. p_common is the type and the options of all. Jobs that depend on others, by key
-- or dedupe_id, go through enqueue_jobs.
create or replace function holdfast.enqueue_inputs_v1(p_inputs jsonb, p_common jsonb, p_wake text default 'always') returns bigint[]
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_new record;
begin
  v_new := holdfast.read_inputs(p_inputs, p_common, holdfast.now());
  perform holdfast.place_jobs(v_new.jobs), holdfast.place_ready(v_new.ready),
          holdfast.wake_workers(array[v_new.queue], v_new.run_at, p_wake);
  return v_new.ids;
end
$$;

-- The ids and the rows of the jobs, in the order of the inputs, and what they share. It runs with the settings of its callers. A
-- loop of expressions, because a query takes longer to prepare than it takes to make the row of one job.
create or replace function holdfast.read_inputs(
  p_inputs jsonb, p_common jsonb, p_now timestamptz,
  out ids bigint[], out jobs holdfast.job[], out ready holdfast.ready[],
  out queue text, out run_at timestamptz, out lease_seconds integer
)
  language plpgsql volatile
as $$
declare
  v_type constant text := p_common ->> 'type';
  v_common record;
  v_input jsonb;
  v_problem text;
  v_id bigint;
begin
  if not holdfast.is_plain(p_common) then
    perform holdfast.check_common(p_common);
    if not p_common ? 'type' or p_common ?| array['input', 'key', 'dedupe_id'] then
      perform holdfast.refuse('INVALID_OPTION', 'common options need a type, and can have no input, key or dedupe_id here',
        p_common - 'input');
    end if;
  end if;
  if jsonb_typeof(p_inputs) is distinct from 'array' then
    perform holdfast.refuse('INVALID_OPTION', 'inputs must be a JSON array',
      jsonb_build_object('received', left(p_inputs::text, 100)));
  end if;
  v_common := holdfast.read_common(v_type, p_common, p_now);
  queue := v_common.queue;
  run_at := v_common.run_at;
  lease_seconds := v_common.lease_seconds;
  ids := '{}';
  for v_place in 0..jsonb_array_length(p_inputs) - 1 loop
    v_input := p_inputs -> v_place;
    if not holdfast.is_short(v_input) then
      v_problem := holdfast.input_problem(v_input);
      if v_problem is not null then
        perform holdfast.refuse('INVALID_INPUT', 'input ' || v_problem, jsonb_build_object('place', v_place));
      end if;
    end if;
    v_id := nextval('holdfast.job_id_seq');
    ids := ids || v_id;
    jobs := jobs || holdfast.job_row(v_id, v_type, v_common.queue, v_common.priority, v_common.max_attempts,
                                     v_common.pipeline_id, v_common.tags, v_input, p_now, v_common.trace);
    ready := ready || holdfast.ready_row(v_id, v_type, v_common.queue, v_common.priority, v_common.run_at, v_common.max_attempts);
  end loop;
end
$$;
