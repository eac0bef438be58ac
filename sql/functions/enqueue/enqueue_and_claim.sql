-- enqueue_and_claim: none → running for jobs that the caller's own worker starts at once
--   Guard   as place_inputs. Where a claim could not take them (a queue paused, another than p_queue, a later run_at), they
--           are pending as after enqueue_inputs.
--   Locks   none.
--   Returns the ids, in the order of the inputs; jobs: what encode_claimed_jobs gives, or null when they are pending.
--   Notifies sleeping workers of what is pending.
-- One commit instead of two: what a process enqueues for itself need not be stored first and found afterwards. The caller
-- has room for so many jobs of p_queue and a handler for their type. p_lease_id as in claim_batch.
create or replace function holdfast.enqueue_and_claim_v1(
  p_inputs jsonb,
  p_common jsonb,
  p_worker text,
  p_queue text,
  p_lease_id uuid default null,
  out ids bigint[],
  out jobs json
)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_placed record;
begin
  if current_setting('transaction_isolation') <> 'read committed' or coalesce(p_worker, '') = '' then
    perform holdfast.check_claim(p_worker, array[p_queue], '{}', 1);
  end if;
  v_placed := holdfast.place_inputs(p_inputs, p_common, 'sleepers', p_worker, p_queue, p_lease_id);
  ids := v_placed.ids;
  jobs := v_placed.jobs;
end
$$;
