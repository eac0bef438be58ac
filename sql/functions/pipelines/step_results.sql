-- step_results: what a step's input is computed from
--   Guard   none.
--   Locks   none.
--   Returns the pipeline's name and input, the step's name, and by name what the steps that it comes after came to: state,
--           output and error. For a compensation only the step that it takes back. No row for a job that is no step.
--   Notifies nothing.
create or replace function holdfast.step_results_v1(p_job_id bigint)
  returns table (pipeline text, input jsonb, step text, compensates text, results jsonb)
  language plpgsql stable security definer  -- a body in SQL would be planned anew at every call
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
              cross join lateral (
                select b.state, b.output, b.error from holdfast.outcome as b where b.job_id = d.job_id limit 1
              ) as o
           ), '{}')
      from holdfast.pipeline_step as s
      join holdfast.pipeline as p on p.id = s.pipeline_id
      left join holdfast.pipeline_step as c on c.job_id = s.compensates
     where s.job_id = p_job_id;
end
$$;
