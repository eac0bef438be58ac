-- enqueue_as_operator: none → pending, by an operator, written down
--   Guard   as enqueue_jobs.
--   Locks   as enqueue_jobs.
--   Returns one job id per member, in order. Each has its row in audit.
--   Notifies as enqueue_jobs.
create or replace function holdfast.enqueue_as_operator_v1(
  p_jobs jsonb,
  p_common jsonb default '{}',
  p_wake text default 'always',
  p_actor text default null
)
  returns setof bigint
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids constant bigint[] := array(select e.id from holdfast.enqueue_jobs_v1(p_jobs, p_common, p_wake) as e(id));
begin
  insert into holdfast.audit (at, actor, action, job_id, details)
  select holdfast.now(), coalesce(p_actor, session_user), 'enqueue', w.id, '{}' from unnest(v_ids) as w(id);
  return query select w.id from unnest(v_ids) as w(id);
end
$$;
