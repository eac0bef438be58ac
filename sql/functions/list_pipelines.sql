-- list_pipelines: the pipelines, newest first
--   Guard   none.
--   Locks   none.
--   Gives   up to p_limit rows before (p_before, p_before_id), the last ones seen; how far one is, find_pipeline tells.
--   Tells   nothing.
create or replace function holdfast.list_pipelines_v1(
  p_before timestamptz default 'infinity',
  p_before_id uuid default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  p_limit integer default 100
)
  returns table (
    id uuid, name text, on_failure text, result_job bigint, stopped_by bigint, stopped_at timestamptz,
    compensated_at timestamptz, created_at timestamptz
  )
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select p.id, p.name, p.on_failure, p.result_job, p.stopped_by, p.stopped_at, p.compensated_at, p.created_at
    from holdfast.pipeline as p
   where (p.created_at, p.id) < (p_before, p_before_id)
   order by p.created_at desc, p.id desc
   limit least(greatest(p_limit, 1), 1000)
$$;
