-- compensate_pipeline: none → pending | waiting for the compensations of a stopped pipeline's completed steps
--   Guard   the caller has locked the pipeline's row; it is stopped, all its jobs have ended, and it has not compensated before.
--   Locks   none.
--   Returns the first of these jobs, or none. They run one after another, that of the last completed step first; the others
--           run even if one fails.
--   Notifies nothing; the caller does.
--   Tested by  test/sql/pipelines/compensate_pipeline.test.ts
create or replace function holdfast.compensate_pipeline(p_pipeline uuid)
  returns bigint[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_steps jsonb;
  v_n integer;
begin
  update holdfast.pipeline as p
     set compensated_at = holdfast.now()
   where p.id = p_pipeline
     and p.stopped_at is not null
     and p.compensated_at is null
     and not holdfast.pipeline_lives(p_pipeline);
  if not found then
    return '{}';
  end if;

  select jsonb_agg(s.compensation || jsonb_build_object('name', 'undo ' || s.name, 'compensates', s.job_id,
                     'input', jsonb_build_object('holdfast.compensates', s.name))
                   order by o.finished_at desc, s.job_id desc), count(*)
    into v_steps, v_n
    from holdfast.pipeline_step as s
   cross join lateral (select b.state, b.finished_at from holdfast.outcome as b where b.job_id = s.job_id limit 1) as o
   where s.pipeline_id = p_pipeline
     and s.compensation is not null
     and o.state = 'completed';
  if v_n = 0 then
    return '{}';
  end if;
  return holdfast.store_pipeline_steps(p_pipeline, v_steps, holdfast.take_job_ids(v_n),
    array(select generate_series(1, v_n - 1)), array(select generate_series(2, v_n)));
end
$$;
