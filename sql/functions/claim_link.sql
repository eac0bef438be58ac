-- claim_link: waiting → running for one step that waits for nothing more
--   Guard   no key, its queue not paused, READ COMMITTED. That it is due and fits the caller, the caller has seen to.
--   Locks   nothing more: the caller has locked the waiting row, and deletes it.
--   Gives   what claimed_jobs gives, with facts: what step_results gives, by place, for an input that is computed of outputs of
--           at most 8 kB; greater ones are asked for when the job runs. Null when it may not be claimed so.
--   Tells   nothing.
--   Tested by  test/sql/complete_link.test.ts
-- The settings that pin the plans are the caller's.
create or replace function holdfast.claim_link(
  p_job_id bigint,
  p_token bigint,
  p_worker text,
  p_now timestamptz,
  p_output_bytes integer
)
  returns json
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_most_bytes constant integer := 8192;
  v_lease_id constant uuid := gen_random_uuid();
  v_job record;
  v_seconds integer;
  v_facts json;
begin
  select j.type, j.queue, j.priority, j.max_attempts, j.input, j.pipeline_id, j.tags, j.trace
    into v_job
    from holdfast.job as j
   where j.id = p_job_id
     and j.key is null
     and not exists (select from holdfast.queue as q where q.name = j.queue and q.paused_at is not null);
  -- The claim by id, which it is left to then, says what is wrong.
  if not found or coalesce(p_worker, '') = '' or current_setting('transaction_isolation') <> 'read committed' then
    return null;
  end if;
  v_seconds := holdfast.lease_seconds_v1(v_job.type);
  insert into holdfast.lease
    (job_id, type, queue, priority, run_at, attempts, max_attempts, token, lease_id, locked_by, locked_at, locked_until,
     linked)
  values
    (p_job_id, v_job.type, v_job.queue, v_job.priority, p_now, 1, v_job.max_attempts, p_token + 1, v_lease_id, p_worker, p_now,
     p_now + make_interval(secs => v_seconds), true);
  if v_job.input ? 'holdfast.results' and coalesce(p_output_bytes, 0) <= v_most_bytes then
    select to_json(r) into v_facts from holdfast.step_results_v1(p_job_id) as r where pg_column_size(r.results) <= v_most_bytes;
  end if;
  return json_build_object(
    'lease_id', v_lease_id,
    'lease_seconds', json_build_object(v_job.type, v_seconds),
    'usual', json_build_object('type', v_job.type, 'queue', v_job.queue, 'priority', v_job.priority,
                               'token', (p_token + 1)::text, 'attempts', 1, 'max_attempts', v_job.max_attempts),
    'id', json_build_array(p_job_id::text),
    'due_ms', json_build_array((date_part('epoch', p_now) * 1000)::bigint),
    'input', json_build_array(v_job.input),
    'pipeline_id', json_build_object(0, v_job.pipeline_id),
    'tags', case when v_job.tags <> '{}' then json_build_object(0, v_job.tags) end,
    'trace', case when v_job.trace is not null then json_build_object(0, v_job.trace) end,
    'facts', case when v_facts is not null then json_build_object(0, v_facts) end
  );
end
$$;
