-- list_pipeline_steps: the jobs of a pipeline in the order of its graph, each with its dependencies
--   Guard   none.
--   Locks   none.
--   Returns up to p_limit jobs after the id p_after, as list_jobs shows them, each with its first 200 dependencies and their
--           number, with the job that it compensates, and with the type of its own compensation.
--   Notifies nothing.
-- Ids grow along every edge, so no job waits for one of a later page.
create or replace function holdfast.list_pipeline_steps_v1(p_pipeline uuid, p_after bigint default 0, p_limit integer default 50)
  returns table (
    id bigint, type text, queue text, priority smallint, state text, key text, key_policy text, attempts smallint,
    max_attempts smallint, progress real, status_message text, error_name text, error_message text, locked_by text,
    locked_at timestamptz, parked boolean, pipeline_id uuid, tags text[], created_at timestamptz, run_at timestamptz,
    finished_at timestamptz, step text, depends_on bigint[], dependencies integer, compensates bigint, compensation text
  )
  language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
  -- By the comparison of pairs the planner can only read the pipeline's part of the index, in its order.
  v_ids constant bigint[] := array(
    select j.id
      from holdfast.job as j
     where j.pipeline_id <= p_pipeline
       and (j.pipeline_id, j.id) > (p_pipeline, p_after)
     order by j.pipeline_id, j.id
     limit least(greatest(p_limit, 1), 200)
  );
begin
  return query
    select s.*, coalesce(d.ids, '{}'), d.n, g.compensates, g.compensation ->> 'type'
      from unnest(v_ids) with ordinality as w(id, place)
     cross join lateral holdfast.summarize_job(w.id, null, v_now) as s
      left join lateral (
        select p.compensates, p.compensation from holdfast.pipeline_step as p where p.job_id = w.id limit 1
      ) as g on true
     cross join lateral (
       select (array_agg(e.depends_on order by e.depends_on))[:200] as ids, count(*)::integer as n
         from holdfast.dependency as e
        where e.job_id = w.id
     ) as d
     order by w.place;
end
$$;
