-- results_after: what the input of a step is computed from, when the last step that it waited for has just been completed
--   Guard   the caller has completed p_last with p_output, in this transaction.
--   Locks   none.
--   Returns as step_results, as one JSON object; null when outputs take more than 8 kB: those are asked for when the step runs.
--   Notifies nothing.
--   Tested by  test/sql/pipelines/complete_step.test.ts
-- A step that comes after this one alone is the common one, and looks for no outcome in the partition of each day.
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
