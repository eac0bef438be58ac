-- step_results: what a step's input is computed from
--   Guard   none.
--   Locks   none.
--   Returns the pipeline's name and input, the step's name, and by name the state, output and error of each step that it depends
--           on; for a compensation only those of the step that it takes back. No row for a job that is no step.
--   Notifies nothing.
-- results_after returns the same as one JSON object, when the caller has just completed p_last with p_output and p_job_id waits
-- for nothing more. It returns null for outputs of more than 8 kB; the worker asks for those when the step runs.
create or replace function holdfast.step_results_v1(p_job_id bigint)
  returns table (pipeline text, input jsonb, step text, compensates text, results jsonb)
  language plpgsql stable security definer  -- PostgreSQL plans a body in SQL again at every call
  set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select p.name, p.input, s.name, c.name, coalesce((
             select jsonb_object_agg(n.name, jsonb_build_object('state', o.state, 'output', o.output, 'error', o.error))
               from unnest(case
                 when s.compensates is not null then array[s.compensates]
                 else array(select d.depends_on from holdfast.dependency as d where d.job_id = p_job_id)
               end) as d(job_id)
              cross join lateral (select b.name from holdfast.pipeline_step as b where b.job_id = d.job_id limit 1) as n
              cross join lateral (select b.* from holdfast.outcome as b where b.job_id = d.job_id limit 1) as o
           ), '{}')
      from holdfast.pipeline_step as s
      join holdfast.pipeline as p on p.id = s.pipeline_id
      left join holdfast.pipeline_step as c on c.job_id = s.compensates
     where s.job_id = p_job_id;
end
$$;

create or replace function holdfast.results_after(p_last bigint, p_output jsonb, p_job_id bigint)
  returns json
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_most_bytes constant integer := 8192;
  v_facts json;
begin
  if pg_column_size(p_output) > v_most_bytes then
    return null;
  end if;
  -- Most steps depend on this one alone: for them no outcome has to be found among the partitions of all days.
  select json_build_object('pipeline', p.name, 'input', p.input, 'step', s.name, 'compensates', null, 'results',
           json_build_object(l.name, json_build_object('state', 'completed', 'output', p_output, 'error', null)))
    into v_facts
    from holdfast.pipeline_step as s
    join holdfast.pipeline as p on p.id = s.pipeline_id
    join holdfast.pipeline_step as l on l.job_id = p_last
   where s.job_id = p_job_id
     and s.compensates is null
     and not exists (select from holdfast.dependency as d where d.job_id = p_job_id and d.depends_on <> p_last);
  if not found then
    select to_json(r) into v_facts
      from holdfast.step_results_v1(p_job_id) as r
     where pg_column_size(r.results) <= v_most_bytes;
  end if;
  return v_facts;
end
$$;
