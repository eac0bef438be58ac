-- complete_steps: running → completed for jobs with successors, which the caller may get in the same call
--   Guard   the caller holds each job's lease, member by member (job id, token, lease id).
--   Locks   as complete_the_rest; then, for what is handed over, as claim_by_id.
--   Returns lost: the places, from 1, of the members whose lease was lost; handed: what claim_by_id gives for each job that
--           became pending by this and is now claimed for the caller, at most p_rooms of each of p_queues. Repeating a
--           completion is settled again.
--   Notifies sleeping workers of what was not handed over.
-- Members: job_id, token, lease_id, output and next, the members of an enqueue that follow the job in its pipeline.
create or replace function holdfast.complete_steps_v1(
  p_settlements jsonb,
  p_worker text,
  p_queues text[],
  p_rooms integer[],
  p_types text[],
  out lost integer[],
  out handed json[]
)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan  -- a list of one looks worth a new plan each time, which takes longer than to run it
as $$
declare
  v_places integer[];
  v_ids bigint[];
  v_outputs jsonb[];
  v_before integer[] := '{}';
  v_pending bigint[] := '{}';
  v_member jsonb;
  v_place integer;
begin
  perform holdfast.check_settlements(p_settlements);
  select coalesce(array_agg(h.place), '{}'), array_agg(h.job_id),
         array_agg(nullif(p_settlements -> (h.place - 1) -> 'output', 'null'))
    into v_places, v_ids, v_outputs
    from (select distinct on (h.job_id) h.place, h.job_id from holdfast.lock_leases(p_settlements) as h) as h;
  foreach v_place in array v_places loop
    v_member := p_settlements -> (v_place - 1);
    continue when not v_member ? 'next';
    v_pending := v_pending || array(
      select c.id
        from holdfast.chain_jobs_v1((v_member ->> 'job_id')::bigint, (v_member ->> 'token')::bigint,
               (v_member ->> 'lease_id')::uuid, v_member -> 'next', 'never') as c(id));
  end loop;
  if v_ids is not null then
    v_pending := v_pending || holdfast.end_leases(v_ids, 'completed', v_outputs, null, 'never');
  end if;

  if cardinality(v_places) < jsonb_array_length(p_settlements) then
    -- What was completed in the handler's own transaction has made its successors pending there.
    v_before := holdfast.completed_before(p_settlements, v_places);
    v_pending := v_pending || array(
      select d.job_id
        from unnest(v_before) as b(place)
       cross join lateral (
         select n.job_id
           from holdfast.dependency as n
          where n.depends_on = (p_settlements -> (b.place - 1) ->> 'job_id')::bigint
       ) as d
    );
  end if;

  if v_pending <> '{}' then
    handed := holdfast.hand_off_jobs(v_pending, p_worker, p_queues, p_rooms, p_types);
  end if;
  lost := array(
    select p.place
      from generate_series(1, jsonb_array_length(p_settlements)) as p(place)
     where p.place <> all (v_places || v_before)
  );
end
$$;
