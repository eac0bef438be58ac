-- snooze_jobs: running → pending, later, the attempt given back
--   Guard   the caller holds each job's lease, member by member (job id, token, lease id).
--   Locks   key rows in order, then lease rows by id.
--   Returns one row per member: settled true, or false with code LEASE_LOST.
--   Notifies workers that would sleep past the new run_at.
-- Members: job_id, token, lease_id and delay_ms.
create or replace function holdfast.snooze_jobs_v1(p_settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_places integer[];
  v_ids bigint[];
  v_run_ats timestamptz[];
begin
  perform holdfast.check_settlements(p_settlements);
  select coalesce(array_agg(h.place), '{}'), array_agg(h.job_id),
         array_agg(v_now + make_interval(secs => 0.001 * coalesce(
           (p_settlements -> (h.place - 1) ->> 'delay_ms')::double precision, 0)))
    into v_places, v_ids, v_run_ats
    from (select distinct on (h.job_id) h.place, h.job_id from holdfast.lock_leases(p_settlements) as h) as h;
  if v_ids is not null then
    perform holdfast.return_leases(v_ids, v_run_ats, 1);
  end if;
  return query select v.job_id, v.settled, v.code from holdfast.verdicts(p_settlements, v_places) as v;
end
$$;

create or replace function holdfast.snooze_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.snooze_jobs_v1(settlements)
$$;
