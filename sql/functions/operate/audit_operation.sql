-- audit_operation: records who did what by hand
--   Guard   none.
--   Locks   none.
--   Returns nothing; the row commits together with the operation.
--   Notifies nothing.
--   Tested by  test/sql/operate/cancel_job.test.ts
create or replace function holdfast.audit_operation(p_actor text, p_action text, p_job_id bigint, p_details jsonb) returns void
  language sql volatile set search_path = pg_catalog, pg_temp
as $$
  insert into holdfast.audit (at, actor, action, job_id, details)
  values (holdfast.now(), coalesce(p_actor, session_user), p_action, p_job_id, jsonb_strip_nulls(p_details))
$$;
