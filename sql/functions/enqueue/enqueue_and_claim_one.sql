-- enqueue_and_claim_one: none → running for one job that the caller's own worker starts at once
--   Guard   as enqueue_and_claim. What the quick look here does not take goes the long way, which refuses it or makes it pending.
--   Locks   none.
--   Returns a JSON array: the job's id, its lease's id and seconds, since when it is due in milliseconds, its input. Nulls
--           for the three in the middle when it is pending.
--   Notifies sleeping workers of what is pending.
-- The commonest enqueue of all, and the one that somebody waits for. Plain parameters, single rows and one value, because
-- what takes time is making expressions and statements ready. p_lease_id as in claim_batch.
create or replace function holdfast.enqueue_and_claim_one_v1(
  p_type text,
  p_input jsonb,
  p_queue text,
  p_priority smallint,
  p_max_attempts smallint,
  p_worker text,
  p_lease_id uuid default null
)
  returns json
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_is_fine constant boolean := current_setting('transaction_isolation') = 'read committed' and p_worker <> ''
    and holdfast.is_name(p_type) and holdfast.is_name(p_queue)
    and p_priority between 0 and 9 and p_max_attempts between 1 and 1000
    and (holdfast.is_short(p_input) or holdfast.input_problem(p_input) is null);
  v_now constant timestamptz := holdfast.now();
  v_lease_id constant uuid := coalesce(p_lease_id, gen_random_uuid());
  v_lease_seconds integer;
  v_is_paused boolean;
  v_id bigint;
begin
  select (select y.lease_seconds from holdfast.job_type as y where y.type = p_type),
         exists (select from holdfast.queue as q where q.name = p_queue and q.paused_at is not null)
    into v_lease_seconds, v_is_paused;
  if v_is_fine and not v_is_paused then
    v_lease_seconds := coalesce(v_lease_seconds, holdfast.lease_seconds_v1(p_type));
    insert into holdfast.job (type, queue, priority, max_attempts, input, created_at)
    values (p_type, p_queue, p_priority, p_max_attempts, p_input, v_now)
    returning job.id into v_id;
    insert into holdfast.lease
      (job_id, type, queue, priority, run_at, attempts, max_attempts, token, lease_id, locked_by, locked_at, locked_until)
    values (v_id, p_type, p_queue, p_priority, v_now, 1, p_max_attempts, 1, v_lease_id, p_worker, v_now,
            v_now + make_interval(secs => v_lease_seconds));
    return json_build_array(v_id::text, v_lease_id, v_lease_seconds, (date_part('epoch', v_now) * 1000)::bigint, p_input);
  end if;

  perform holdfast.check_claim(p_worker, array[p_queue], '{}', 1);
  v_id := (holdfast.place_inputs(
    case when p_input is not null then jsonb_build_array(p_input) end,
    jsonb_build_object('type', p_type, 'queue', p_queue, 'priority', p_priority, 'max_attempts', p_max_attempts),
    'sleepers', null, null, null
  )).ids[1];
  return json_build_array(v_id::text, null, null, null, p_input);
end
$$;
