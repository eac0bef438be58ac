-- complete_plain_jobs: running → completed for jobs without key or pipeline, in the form that costs a busy worker least
--   Guard   the caller holds each job's lease. p_job_ids lists them claim by claim: the jobs up to place p_ends[1] have the token
--           p_tokens[1] and the lease id p_lease_ids[1], the next ones up to p_ends[2] the second of each, and so on.
--   Locks   lease rows by primary key.
--   Returns the jobs that it did not settle, none when all are settled; the caller passes these to settle_jobs.
--   Notifies nothing.
-- p_outputs: a JSON object by job id, or null when no job has an output. A busy worker claims hundreds of jobs at once. One scan
-- per claim needs neither a token and a lease id per job nor a join to compare them.
create or replace function holdfast.complete_plain_jobs_v1(
  p_job_ids bigint[], p_ends integer[], p_tokens bigint[], p_lease_ids uuid[], p_outputs jsonb default null
)
  returns bigint[]
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off  -- a scan would read the dead rows of a busy table
  set plan_cache_mode = force_generic_plan  -- planning for a few jobs takes four times as long as completing them
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_outcomes holdfast.outcome[];
  v_ids bigint[];
begin
  -- The offset makes the planner scan the leases of each claim by their ids.
  select array_agg(l.outcome), coalesce(array_agg(l.job_id), '{}')
    into v_outcomes, v_ids
    from unnest(p_ends, p_tokens, p_lease_ids) with ordinality as c(last, token, lease_id, place)
   cross join lateral (
     select b.job_id, holdfast.outcome_row(b, 'completed', v_now,
              case when p_outputs is not null then nullif(p_outputs -> b.job_id::text, 'null') end) as outcome
       from holdfast.lease as b
      where b.job_id = any (p_job_ids[coalesce(p_ends[c.place - 1], 0) + 1 : c.last])
        and b.token = c.token
        and b.lease_id = c.lease_id
        and b.key is null
        and not b.linked
     offset 0
   ) as l;

  -- The leases are not locked: locks would cost a fifth of the whole. So another session may have ended jobs of v_ids. Those are
  -- in another place now; a job whose lease was dropped here is in none.
  if holdfast.drop_leases(v_ids, p_lease_ids) < cardinality(v_ids) then
    v_outcomes := array(
      select distinct on (o.job_id) o from unnest(v_outcomes) as o where holdfast.state_of(o.job_id) is null
    );
    v_ids := array(select o.job_id from unnest(v_outcomes) as o);
  end if;
  perform holdfast.place_outcomes(v_outcomes);
  if cardinality(v_ids) = cardinality(p_job_ids) then
    return '{}';
  end if;
  return array(select w.job_id from unnest(p_job_ids) as w(job_id) where (w.job_id = any (v_ids)) is not true);
end
$$;
