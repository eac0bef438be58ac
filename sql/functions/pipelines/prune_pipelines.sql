-- prune_pipelines: pipelines whose jobs have all ended before a day → gone
--   Guard   all jobs of the pipeline ended before the day: while one lives, it may need the outputs of the others.
--   Locks   pipeline rows, then their job rows, skip locked.
--   Returns the jobs of these pipelines, locked, for the caller to delete. Stops when it has p_limit jobs or more.
--   Notifies nothing.
--   Tested by  test/sql/maintenance/prune_jobs.test.ts
create or replace function holdfast.prune_pipelines(p_before timestamptz, p_limit integer)
  returns bigint[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_all bigint[] := '{}';
  v_ids bigint[];
  v_pipeline uuid;
begin
  for v_pipeline in
    select p.id from holdfast.pipeline as p where p.created_at < p_before order by p.created_at, p.id
  loop
    exit when cardinality(v_all) >= p_limit;
    perform from holdfast.pipeline as p where p.id = v_pipeline for update skip locked;
    continue when not found
      or holdfast.pipeline_lives(v_pipeline)
      or coalesce((
        select true
          from holdfast.job as j
         where j.pipeline_id = v_pipeline
           and (select o.finished_at from holdfast.outcome as o where o.job_id = j.id limit 1) >= p_before
         limit 1
      ), false);
    v_ids := array(select j.id from holdfast.job as j where j.pipeline_id = v_pipeline for update skip locked);
    continue when cardinality(v_ids) < (select count(*) from holdfast.job as j where j.pipeline_id = v_pipeline);

    delete from holdfast.dependency as d where d.depends_on = any (v_ids);
    delete from holdfast.pipeline_step as s where s.pipeline_id = v_pipeline;
    delete from holdfast.pipeline as p where p.id = v_pipeline;
    v_all := v_all || v_ids;
  end loop;
  return v_all;
end
$$;
