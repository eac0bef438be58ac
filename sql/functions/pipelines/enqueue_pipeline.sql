-- enqueue_pipeline: none → pending | waiting for all steps of a pipeline, or for none of them
--   Guard   the graph is checked before the first step is stored: names, unknown steps, cycles, limits.
--   Locks   none.
--   Returns the pipeline's id and the job of the step that is its result. Raises INVALID_OPTION, INVALID_INPUT, DUPLICATE_STEP,
--           UNKNOWN_STEP, PIPELINE_CYCLE or PIPELINE_TOO_LARGE.
--   Notifies workers, by p_wake as in enqueue_jobs.
-- p_pipeline: name, input, on_failure (stop, continue, compensate) and result, the name of a step. Steps are members of an
-- enqueue with a name, in after the names of the steps they depend on and, as compensate, the job that takes them back.
-- enqueue_pipeline_as_operator also writes who enqueued it into audit.
create or replace function holdfast.enqueue_pipeline_v1(
  p_pipeline jsonb, p_steps jsonb, p_wake text default 'always',
  out id uuid, out result_job bigint
)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[];
  v_twice text;
  v_unknown text;
  v_befores integer[];
  v_afters integer[];
  v_ids bigint[];
  v_due bigint[];
begin
  perform holdfast.check_pipeline(p_pipeline, p_steps);
  v_names := array(
    select s.step ->> 'name' from jsonb_array_elements(p_steps) with ordinality as s(step, place) order by s.place);
  select n.name into v_twice from unnest(v_names) as n(name) group by n.name having count(*) > 1 order by n.name limit 1;
  if found then
    perform holdfast.refuse('DUPLICATE_STEP', format('two steps of the pipeline are called "%s"', v_twice),
      jsonb_build_object('step', v_twice));
  end if;

  with named as materialized (
    select n.name, n.place::integer as place from unnest(v_names) with ordinality as n(name, place)
  ),
  wanted as materialized (
    select distinct s.place::integer as place, a.name
      from jsonb_array_elements(p_steps) with ordinality as s(step, place)
     cross join lateral jsonb_array_elements_text(s.step -> 'after') as a(name)
    union all
    select null, p_pipeline ->> 'result' where p_pipeline ->> 'result' is not null
  )
  select coalesce(array_agg(n.place) filter (where w.place is not null), '{}'),
         coalesce(array_agg(w.place) filter (where w.place is not null), '{}'), min(w.name) filter (where n.place is null)
    into v_befores, v_afters, v_unknown
    from wanted as w
    left join named as n on n.name = w.name;
  if v_unknown is not null then
    perform holdfast.refuse('UNKNOWN_STEP', format('no step of the pipeline is called "%s"', v_unknown),
      jsonb_build_object('step', v_unknown));
  end if;

  v_ids := array(
    select i.id
      from unnest(holdfast.pipeline_order(v_names, v_befores, v_afters)) with ordinality as o(place, rank)
      join unnest(holdfast.take_job_ids(cardinality(v_names))) with ordinality as i(id, rank) on i.rank = o.rank
     order by o.place
  );
  id := gen_random_uuid();
  result_job := v_ids[array_position(v_names, p_pipeline ->> 'result')];
  insert into holdfast.pipeline (id, name, input, on_failure, result_job, created_at)
  values (enqueue_pipeline_v1.id, p_pipeline ->> 'name', coalesce(p_pipeline -> 'input', 'null'),
          coalesce(p_pipeline ->> 'on_failure', 'stop'), enqueue_pipeline_v1.result_job, holdfast.now());
  v_due := holdfast.store_pipeline_steps(enqueue_pipeline_v1.id, p_steps, v_ids, v_befores, v_afters);
  perform holdfast.wake_workers(
    array(select distinct r.queue from holdfast.ready as r where r.job_id = any (v_due)), holdfast.now(), p_wake);
end
$$;

create or replace function holdfast.enqueue_pipeline_as_operator_v1(
  p_pipeline jsonb, p_steps jsonb, p_wake text default 'always', p_actor text default null,
  out id uuid, out result_job bigint
)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  select e.id, e.result_job into id, result_job from holdfast.enqueue_pipeline_v1(p_pipeline, p_steps, p_wake) as e;
  perform holdfast.audit_operation(p_actor, 'enqueue_pipeline', null,
    jsonb_build_object('pipeline_id', id, 'name', p_pipeline ->> 'name', 'steps', jsonb_array_length(p_steps)));
end
$$;

create or replace function holdfast.enqueue_pipeline(
  pipeline jsonb, steps jsonb, wake text default 'always',
  out id uuid, out result_job bigint
)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select e.id, e.result_job from holdfast.enqueue_pipeline_v1(pipeline, steps, wake) as e $$;
