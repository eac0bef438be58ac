-- enqueue_inputs: none → pending for jobs that differ in nothing but their input
--   Guard   the options and every input are checked before the first job is stored; one bad input refuses all.
--   Locks   none.
--   Gives   the ids, in the order of the inputs.
--   Tells   workers, as enqueue_jobs does.
-- p_common is the type and the options of them all. Jobs that may meet others of their kind, by key or dedupe_id, go through
-- enqueue_jobs.
create or replace function holdfast.enqueue_inputs_v1(p_inputs jsonb, p_common jsonb, p_wake text default 'always')
  returns bigint[]
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_common record;
  v_bad record;
  v_ids bigint[];
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

  select m.* into v_common from holdfast.read_members('[{}]', p_common, v_now) as m;
  with stored as (
    insert into holdfast.job (type, queue, priority, max_attempts, pipeline_id, tags, trace, input, created_at)
    select v_common.type, v_common.queue, v_common.priority, v_common.max_attempts, v_common.pipeline_id, v_common.tags,
           v_common.trace, i.value, v_now
      from jsonb_array_elements(p_inputs) as i(value)
    returning job.id
  ),
  queued as (
    insert into holdfast.ready (job_id, type, queue, priority, run_at, max_attempts)
    select s.id, v_common.type, v_common.queue, v_common.priority, v_common.run_at, v_common.max_attempts
      from stored as s
  )
  select coalesce(array_agg(s.id order by s.id), '{}') into v_ids from stored as s;

  perform holdfast.wake_workers(array[v_common.queue], v_common.run_at, p_wake);
  return v_ids;
end
$$;
