-- enqueue_and_claim: none → running for jobs that the caller's own worker starts at once
--   Guard   as enqueue_inputs. Where a claim could not take them (a queue paused, another than p_queue, a later run_at), they
--           are pending as after enqueue_inputs.
--   Locks   none.
--   Returns what encode_claimed_jobs returns, with the ids in the order of the inputs; only these, as id, when they are pending.
--   Notifies sleeping workers of what is pending.
-- One commit instead of two, and no search for the jobs. The caller has slots for so many jobs of p_queue and a handler for
-- their type. p_lease_id as in claim_batch. One value, because a row of several takes a tenth longer to read.
create or replace function holdfast.enqueue_and_claim_v1(
  p_inputs jsonb, p_common jsonb, p_worker text, p_queue text, p_lease_id uuid default null
) returns json
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_lease_id constant uuid := coalesce(p_lease_id, gen_random_uuid());
  v_new record;
  v_until timestamptz;
  v_ready holdfast.ready;
  v_leases holdfast.lease[] := '{}';
begin
  if current_setting('transaction_isolation') <> 'read committed' or coalesce(p_worker, '') = '' then
    perform holdfast.check_claim(p_worker, array[p_queue], '{}', 1);
  end if;
  v_new := holdfast.read_inputs(p_inputs, p_common, v_now);
  if v_new.ids <> '{}'
    and v_new.queue = p_queue
    and v_new.run_at <= v_now
    and not exists (select from holdfast.queue as q where q.name = p_queue and q.paused_at is not null)
  then
    v_until := v_now + make_interval(secs => v_new.lease_seconds);
    foreach v_ready in array v_new.ready loop
      v_leases := v_leases || holdfast.lease_row(v_ready, 1, p_worker, v_lease_id, v_now, v_until);
    end loop;
    perform holdfast.place_jobs(v_new.jobs), holdfast.place_leases(v_leases);
    return holdfast.encode_claimed_jobs(v_leases);
  end if;
  perform holdfast.place_jobs(v_new.jobs), holdfast.place_ready(v_new.ready),
          holdfast.wake_workers(array[v_new.queue], v_new.run_at, 'sleepers');
  return json_build_object('id', array_to_string(v_new.ids, ','));
end
$$;
