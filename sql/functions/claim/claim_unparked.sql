-- claim_unparked: pending → running for jobs whose key was freed after claims had passed their place
--   Guard   as scan_queue, whose settings it runs with.
--   Locks   ready rows in claim order, skip locked, then as claim_keyed; never waits.
--   Returns the leases of up to p_n claimed jobs from before the position.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_batch.test.ts
create or replace function holdfast.claim_unparked(
  p_queue text,
  p_types text[],
  p_n integer,
  p_to_priority integer,
  p_to_run_at timestamptz,
  p_to_job_id bigint,
  p_worker text,
  p_lease_id uuid,
  p_now timestamptz,
  p_lease_seconds jsonb
)
  returns holdfast.lease[]
  language plpgsql volatile
as $$
declare
  v_keyed constant bigint[] := array(
    select r.job_id
      from holdfast.ready as r
     where r.unparked
       and r.queue = p_queue
       and (r.priority, r.run_at, r.job_id) <= (p_to_priority, p_to_run_at, p_to_job_id)
       and r.crashes < 2
       and r.type = any (p_types)
       and not exists (select from holdfast.queue as q where q.name = p_queue and q.paused_at is not null)
     order by r.priority, r.run_at, r.job_id
     limit p_n
       for update skip locked
  );
begin
  if v_keyed = '{}' then
    return '{}';
  end if;
  return (holdfast.claim_keyed(v_keyed, array[p_queue], p_types, p_worker, p_lease_id, p_now, p_lease_seconds)).leases;
end
$$;
