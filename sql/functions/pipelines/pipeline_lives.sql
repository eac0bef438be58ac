-- pipeline_lives: whether a job of a pipeline is waiting, pending or running
--   Guard   none.
--   Locks   none.
--   Returns true or false.
--   Notifies nothing.
--   Tested by  test/sql/pipelines/retry_pipeline.test.ts
create or replace function holdfast.pipeline_lives(p_pipeline uuid)
  returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select exists (select from holdfast.waiting as w where w.pipeline_id = p_pipeline)
      or coalesce((
        select true  -- the planner cannot turn a scalar with a limit into a join with all pending jobs
          from holdfast.job as j
         where j.pipeline_id = p_pipeline
           and coalesce((select true from holdfast.ready as r where r.job_id = j.id),
                        (select true from holdfast.lease as l where l.job_id = j.id), false)
         limit 1
      ), false)
$$;
