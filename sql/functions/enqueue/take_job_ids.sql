-- take_job_ids: new ids of jobs, in growing order
--   Guard   none.
--   Locks   none.
--   Returns p_n of them.
--   Notifies nothing.
--   Tested by  test/sql/pipelines/enqueue_pipeline.test.ts
create or replace function holdfast.take_job_ids(p_n integer) returns bigint[]
  language sql volatile set search_path = pg_catalog, pg_temp
as $$
  select array_agg(i.id order by i.id)
    from (select nextval('holdfast.job_id_seq') as id from generate_series(1, p_n)) as i
$$;
