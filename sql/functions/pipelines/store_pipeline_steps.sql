-- store_pipeline_steps: none → pending | waiting for the steps of a pipeline
--   Guard   the caller has checked the steps; ids grow along every edge.
--   Locks   none.
--   Returns the ids of the steps without dependencies, which are due.
--   Notifies nothing; the caller does.
--   Tested by  test/sql/pipelines/enqueue_pipeline.test.ts
-- p_ids stands beside p_steps. The edges lead from the places p_befores to the places p_afters, each once.
create or replace function holdfast.store_pipeline_steps(
  p_pipeline uuid, p_steps jsonb, p_ids bigint[], p_befores integer[], p_afters integer[]
)
  returns bigint[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_jobs holdfast.job[];
  v_waiting holdfast.waiting[];
  v_due holdfast.ready[];
begin
  insert into holdfast.pipeline_step (job_id, pipeline_id, name, compensation, compensates)
  select p_ids[s.place], p_pipeline, s.step ->> 'name', s.step -> 'compensate', (s.step ->> 'compensates')::bigint
    from jsonb_array_elements(p_steps) with ordinality as s(step, place);

  insert into holdfast.dependency (job_id, depends_on)
  select p_ids[e.after], p_ids[e.before]
    from unnest(p_befores, p_afters) as e(before, after);

  with asked as materialized (
    select p_ids[m.place] as id, m.*, coalesce(e.open, 0) as open
      from holdfast.read_members(p_steps, '{}', v_now) as m
      left join (select e.after, count(*)::integer as open from unnest(p_afters) as e(after) group by 1) as e on e.after = m.place
  )
  select array_agg(holdfast.job_row(a.id, a.type, a.queue, a.priority, a.max_attempts, p_pipeline, a.tags, a.input, v_now, null,
                                    a.key, a.key_policy)),
         array_agg(row(a.id, p_pipeline, a.open, 0, a.type, a.queue)::holdfast.waiting) filter (where a.open > 0),
         array_agg(holdfast.ready_row(a.id, a.type, a.queue, a.priority, a.run_at, a.max_attempts, 0, a.key, a.key_policy,
                                      case when a.key is not null then a.id end, true) order by a.id)
           filter (where a.open = 0)
    into v_jobs, v_waiting, v_due
    from asked as a;
  perform holdfast.place_jobs(v_jobs);
  perform holdfast.place_waiting(v_waiting);
  perform holdfast.place_ready(v_due);
  return array(select d.job_id from unnest(v_due) as d);
end
$$;
