-- enqueue_pipeline_as_operator: none → pending | waiting for all steps of a pipeline, by an operator, written down
--   Guard   as enqueue_pipeline.
--   Locks   none.
--   Returns as enqueue_pipeline. The pipeline has its row in audit.
--   Notifies as enqueue_pipeline.
create or replace function holdfast.enqueue_pipeline_as_operator_v1(
  p_pipeline jsonb,
  p_steps jsonb,
  p_wake text default 'always',
  p_actor text default null,
  out id uuid,
  out result_job bigint
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
