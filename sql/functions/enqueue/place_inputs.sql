-- place_inputs: none → pending | running for jobs that differ in nothing but their input
--   Guard   the options and every input are checked before the first job is stored; one bad input refuses all. Held for
--           p_worker only where a claim could take them: due, in p_queue, the queue not paused.
--   Locks   none.
--   Returns the ids, in the order of the inputs; jobs: what encode_claimed_jobs gives, or null when they are pending.
--   Notifies workers of what is pending, by p_wake.
--   Tested by  test/sql/enqueue/enqueue_inputs.test.ts
-- Without settings of its own: it runs under its callers', once per call.
create or replace function holdfast.place_inputs(
  p_inputs jsonb,
  p_common jsonb,
  p_wake text,
  p_worker text,
  p_queue text,
  p_lease_id uuid,
  out ids bigint[],
  out jobs json
)
  language plpgsql volatile
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_type constant text := p_common ->> 'type';
  v_common record;
  v_lease_id constant uuid := coalesce(p_lease_id, gen_random_uuid());
  v_lease_seconds integer;
begin
  -- Where the whole list is short, so is each of its members.
  if (holdfast.is_plain(p_common) and jsonb_typeof(p_inputs) = 'array' and holdfast.is_short(p_inputs)) is not true then
    perform holdfast.check_inputs(p_inputs, p_common);
  end if;

  v_common := holdfast.read_common(v_type, p_common, v_now);
  ids := array(select nextval('holdfast.job_id_seq') from generate_series(1, jsonb_array_length(p_inputs)));
  insert into holdfast.job (id, type, queue, priority, max_attempts, pipeline_id, tags, trace, input, created_at)
  overriding system value
  select i.id, v_type, v_common.queue, v_common.priority, v_common.max_attempts, v_common.pipeline_id, v_common.tags,
         v_common.trace, i.value, v_now
    from (select unnest(ids) as id, jsonb_array_elements(p_inputs) as value) as i;

  if v_common.queue = p_queue
    and v_common.run_at <= v_now
    and not exists (select from holdfast.queue as q where q.name = p_queue and q.paused_at is not null)
  then
    v_lease_seconds := coalesce(v_common.lease_seconds, holdfast.lease_seconds_v1(v_type));
    insert into holdfast.lease
      (job_id, type, queue, priority, run_at, attempts, max_attempts, token, lease_id, locked_by, locked_at, locked_until)
    select i.id, v_type, v_common.queue, v_common.priority, v_common.run_at, 1, v_common.max_attempts, 1, v_lease_id,
           p_worker, v_now, v_now + make_interval(secs => v_lease_seconds)
      from unnest(ids) as i(id);
    -- As encode_claimed_jobs tells it, without a look at rows that were written a moment ago.
    jobs := json_build_object(
      'lease_id', v_lease_id,
      'lease_seconds', json_build_object(v_type, v_lease_seconds),
      'usual', json_build_object('type', v_type, 'queue', v_common.queue, 'priority', v_common.priority, 'token', '1',
                                 'attempts', 1, 'max_attempts', v_common.max_attempts, 'pipeline_id', v_common.pipeline_id,
                                 'tags', v_common.tags, 'trace', v_common.trace),
      'id', array_to_string(ids, ','),
      'due_ms', array_fill((date_part('epoch', v_common.run_at) * 1000)::bigint, array[cardinality(ids)]),
      'input', p_inputs
    );
  else
    insert into holdfast.ready (job_id, type, queue, priority, run_at, max_attempts)
    select i.id, v_type, v_common.queue, v_common.priority, v_common.run_at, v_common.max_attempts
      from unnest(ids) as i(id);
    perform holdfast.wake_workers(array[v_common.queue], v_common.run_at, p_wake);
  end if;
end
$$;
