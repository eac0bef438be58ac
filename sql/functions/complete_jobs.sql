-- complete_jobs: running → completed
--   Guard   the caller holds each job's lease, member by member (job id, token, lease id).
--   Locks   lease rows without a key by primary key; then, for the rest, key rows in order and their lease rows.
--   Gives   one row per member: settled true, or false with code LEASE_LOST. Repeating a completion that this very lease has
--           made is true again, for a client that lost the answer.
--   Tells   sleeping workers of jobs that waited for a freed key.
create or replace function holdfast.complete_jobs_v1(p_settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off   -- dead rows of a busy table are not worth a walk
  set enable_nestloop = off  -- 1,000 x 1,000 when the planner believes that one row is running
  set enable_mergejoin = off
  set enable_bitmapscan = off
as $$
declare
  v_places integer[];
begin
  perform holdfast.check_settlements(p_settlements);

  with wanted as materialized (
    select w.place, w.job_id, w.token, w.lease_id, w.output
      from rows from (
        jsonb_to_recordset(p_settlements) as (job_id bigint, token bigint, lease_id uuid, output jsonb)
      ) with ordinality as w(job_id, token, lease_id, output, place)
  ),
  ended as (
    delete from holdfast.lease as l
     using wanted as w
     where l.job_id = any (array(select x.job_id from wanted as x))
       and l.job_id = w.job_id
       and l.token = w.token
       and l.lease_id = w.lease_id
       and l.key is null
    returning l.job_id, l.attempts, l.token, l.lease_id, l.locked_by, l.locked_at, l.run_at, w.output, w.place
  ),
  kept as (
    insert into holdfast.outcome
      (job_id, state, attempts, token, lease_id, locked_by, locked_at, run_at, finished_at, output)
    select e.job_id, 'completed', e.attempts, e.token, e.lease_id, e.locked_by, e.locked_at, e.run_at, holdfast.now(),
           e.output
      from ended as e
  )
  select coalesce(array_agg(e.place::integer), '{}') into v_places from ended as e;

  if cardinality(v_places) < jsonb_array_length(p_settlements) then
    v_places := v_places || holdfast.complete_the_rest(p_settlements, v_places);
  end if;
  return query select v.job_id, v.settled, v.code from holdfast.verdicts(p_settlements, v_places) as v;
end
$$;

create or replace function holdfast.complete_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.complete_jobs_v1(settlements)
$$;
