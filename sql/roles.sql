-- Who may call what. Applied at every migrate, after the functions. Only the owner of the schema has rights on tables;
-- the four roles have EXECUTE on the functions of their role and nothing else (viewers may also read the view jobs).
-- Where the owner may not create roles, it grants nothing and an administrator can run this file later.
do $roles$
declare
  v_roles constant text[] := array['producer', 'worker', 'operator', 'viewer'];
  v_grants constant jsonb := '{
    "now": ["producer", "worker", "operator", "viewer"],
    "schema_revision": ["producer", "worker", "operator", "viewer"],
    "find_job": ["producer", "worker", "operator", "viewer"],
    "lease_seconds": ["producer", "worker", "operator", "viewer"],
    "current": ["producer", "worker", "operator", "viewer"],
    "key_history": ["producer", "worker", "operator", "viewer"],
    "enqueue": ["producer", "worker", "operator"],
    "enqueue_jobs": ["producer", "worker", "operator"],
    "enqueue_inputs": ["producer", "worker", "operator"],
    "enqueue_pipeline": ["producer", "worker", "operator"],
    "find_pipeline": ["producer", "worker", "operator", "viewer"],
    "list_pipelines": ["producer", "worker", "operator", "viewer"],
    "list_pipeline_steps": ["producer", "worker", "operator", "viewer"],
    "enqueue_pipeline_as_operator": ["operator"],
    "cancel_pipeline": ["producer", "operator"],
    "retry_pipeline": ["operator"],
    "complete_step": ["worker"],
    "settle_jobs": ["worker"],
    "chain_jobs": ["worker"],
    "step_results": ["worker"],
    "claim_jobs": ["worker"],
    "claim_batch": ["worker"],
    "enqueue_and_claim": ["worker"],
    "claim_by_id": ["worker"],
    "claim_one": ["worker"],
    "claim_job": ["worker"],
    "renew_leases": ["worker"],
    "renew_worker": ["worker"],
    "complete_jobs": ["worker"],
    "complete_plain_jobs": ["worker"],
    "complete_job": ["worker"],
    "assert_lease": ["worker"],
    "fail_jobs": ["worker"],
    "snooze_jobs": ["worker"],
    "suspend_jobs": ["worker"],
    "store_durable_step": ["worker"],
    "poll_event": ["worker"],
    "emit_event": ["producer", "worker", "operator"],
    "read_durable_steps": ["producer", "worker", "operator", "viewer"],
    "explain_job": ["producer", "worker", "operator", "viewer"],
    "release_jobs": ["worker"],
    "release_claims": ["worker"],
    "cancel_jobs": ["worker"],
    "report_progress": ["worker"],
    "put_job_types": ["worker"],
    "register_worker": ["worker"],
    "deregister_worker": ["worker"],
    "record_heartbeat": ["worker"],
    "next_heartbeat_timeout": ["worker"],
    "sleep_worker": ["worker"],
    "report_load": ["worker"],
    "take_worker_lock": ["worker"],
    "claim_quarantined": ["worker"],
    "reap_leases": ["worker"],
    "append_logs": ["worker"],
    "make_outcome_partitions": ["worker"],
    "prune_jobs": ["worker"],
    "offer_parked": ["worker"],
    "due_maintenance": ["worker"],
    "cancel_job": ["producer", "operator"],
    "retry_job": ["operator"],
    "recover_job": ["operator"],
    "read_logs": ["producer", "worker", "operator", "viewer"],
    "pause_queue": ["operator"],
    "resume_queue": ["operator"],
    "pin_job_type": ["operator"],
    "find_schedule": ["producer", "worker", "operator", "viewer"],
    "list_schedules": ["producer", "worker", "operator", "viewer"],
    "schedule_ticks": ["producer", "worker", "operator", "viewer"],
    "schedule_claim_next": ["worker"],
    "put_schedules": ["worker"],
    "due_schedules": ["worker", "operator", "viewer"],
    "plan_schedule": ["worker"],
    "fault_schedule": ["worker"],
    "create_schedule": ["operator"],
    "update_schedule": ["operator"],
    "enable_schedule": ["operator"],
    "disable_schedule": ["operator"],
    "delete_schedule": ["operator"],
    "trigger_schedule": ["operator"],
    "skip_schedule": ["operator"],
    "backfill_schedule": ["operator"],
    "list_jobs": ["operator", "viewer"],
    "count_jobs": ["operator", "viewer"],
    "job_versions": ["operator", "viewer"],
    "list_attempts": ["operator", "viewer"],
    "list_audit": ["operator", "viewer"],
    "find_key": ["operator", "viewer"],
    "list_workers": ["worker", "operator", "viewer"],
    "list_queues": ["worker", "operator", "viewer"],
    "live_counts": ["operator", "viewer"],
    "read_statistics": ["operator", "viewer"],
    "list_bulk": ["operator", "viewer"],
    "enqueue_as_operator": ["operator"],
    "start_bulk": ["operator"],
    "cancel_bulk": ["operator"],
    "work_bulk": ["worker"],
    "roll_statistics": ["worker"],
    "unserved_work": ["operator", "viewer"],
    "recent_work": ["operator", "viewer"],
    "check_places": ["operator", "viewer"]
  }';
  v_role text;
  v_function record;
begin
  revoke all on all tables in schema holdfast from public;
  revoke all on all functions in schema holdfast from public;

  foreach v_role in array v_roles loop
    if to_regrole('holdfast_' || v_role) is null then
      begin
        execute format('create role %I nologin', 'holdfast_' || v_role);
      exception
        when insufficient_privilege then
          raise notice 'no right to create role %: grant its functions by running roles.sql as one who may',
            'holdfast_' || v_role;
          return;
        when duplicate_object or unique_violation then
          null;  -- another migrate on this server has just made it
      end;
    end if;
    execute format('grant usage on schema holdfast to %I', 'holdfast_' || v_role);
  end loop;
  grant select on holdfast.jobs to holdfast_viewer;

  for v_function in
    select p.oid::regprocedure as signature, t.role
      from pg_catalog.pg_proc as p
      join jsonb_each(v_grants) as g on p.proname ~ ('^' || g.key || '(_v\d+)?$')
     cross join lateral jsonb_array_elements_text(g.value) as t(role)
     where p.pronamespace = 'holdfast'::regnamespace
  loop
    execute format('grant execute on function %s to %I', v_function.signature, 'holdfast_' || v_function.role);
  end loop;
end
$roles$;
