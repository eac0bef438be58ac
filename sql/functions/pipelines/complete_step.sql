-- complete_step: running → completed for one step of a pipeline, and waiting → running for the step after it
--   Guard   the caller holds the lease (job id, token, lease id). The step after it is claimed for the caller if it waits for
--           nothing more, has no key, the caller has a handler for its type and a free slot in its queue, which is not paused.
--   Locks   the lease row, then the successor's waiting row; as settle_jobs for a step with a key and for other graphs.
--   Returns null when the lease was lost, else a list of the jobs that are now claimed for the caller, as encode_claimed_jobs;
--           facts has, by id, what results_after returns for a computed input. Repeating a completion is settled again.
--   Notifies sleeping workers of jobs that became pending and were not handed off.
-- Starting a statement takes longer than running it. So this is one function with few and simple statements.
create or replace function holdfast.complete_step_v1(
  p_job_id bigint, p_token bigint, p_lease_id uuid, p_output jsonb, p_worker text, p_queues text[], p_slots integer[],
  p_types text[]
)
  returns json
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan  -- else a list of one is planned at each call, which takes longer than to run it
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_lease holdfast.lease;
  v_after bigint[];
  v_next holdfast.waiting;
  v_job record;
  v_facts json;
  v_pending bigint[];
begin
  select l.* into v_lease
    from holdfast.lease as l
   where l.job_id = p_job_id
     and l.token = p_token
     and l.lease_id = p_lease_id
     and l.key is null
     and l.linked
     for update;
  if not found then
    return (
      select case when s.lost = '{}' then coalesce(array_to_json(s.handed), '[]') end
        from holdfast.settle_jobs_v1(
               jsonb_build_array(jsonb_build_object(
                 'job_id', p_job_id, 'token', p_token, 'lease_id', p_lease_id, 'outcome', 'complete', 'output', p_output)),
               p_worker, p_queues, p_slots, p_types) as s
    );
  end if;
  perform holdfast.drop_leases(array[p_job_id]);
  perform holdfast.place_outcomes(array[holdfast.outcome_row(v_lease, 'completed', v_now, p_output)]);

  v_after := array(select d.job_id from holdfast.dependency as d where d.depends_on = p_job_id limit 2);
  if cardinality(v_after) = 1 then
    select w.* into v_next from holdfast.waiting as w where w.job_id = v_after[1] and w.open = 1 for update;
    if found then
      perform holdfast.drop_waiting(v_after);
    end if;
  end if;

  -- Any other successor goes to hand_off_jobs, which claims it or refuses.
  if v_next.type = any (p_types) and p_slots[array_position(p_queues, v_next.queue)] > 0 and p_worker <> ''
    and current_setting('transaction_isolation') = 'read committed'
  then
    select j.priority, j.max_attempts, j.input, y.lease_seconds
      into v_job
      from holdfast.job as j
      join holdfast.job_type as y on y.type = j.type
     where j.id = v_next.job_id
       and j.key is null
       and not exists (select from holdfast.queue as q where q.name = j.queue and q.paused_at is not null);
    if found then
      v_lease := holdfast.lease_row(
        holdfast.ready_row(v_next.job_id, v_next.type, v_next.queue, v_job.priority, v_now, v_job.max_attempts, p_linked => true),
        v_next.token + 1, p_worker, gen_random_uuid(), v_now, v_now + make_interval(secs => v_job.lease_seconds));
      perform holdfast.place_leases(array[v_lease]);
      if v_job.input ? 'holdfast.results' then
        v_facts := holdfast.results_after(p_job_id, p_output, v_next.job_id);
      end if;
      return json_build_array(holdfast.encode_claimed_jobs(
        array[v_lease], case when v_facts is not null then json_build_object(v_next.job_id, v_facts) end));
    end if;
  end if;

  if v_next.job_id is not null then
    perform holdfast.ready_steps(v_after, array[v_next.token]);
    v_pending := v_after;
  else
    update holdfast.waiting as w set open = w.open - 1 where w.job_id = v_after[1] and v_after[2] is null and w.open > 1;
    -- A pipeline with a waiting step has not stopped and has not ended. Without one it may have ended by this completion.
    if not found then
      v_pending := holdfast.unblock_successors(array[p_job_id], array['completed'], 'never');
    end if;
  end if;
  if v_pending <> '{}' then
    return coalesce(array_to_json(holdfast.hand_off_jobs(v_pending, p_worker, p_queues, p_slots, p_types)), '[]');
  end if;
  return '[]';
end
$$;
