-- lock_due_jobs: locks the next due jobs behind a position in one priority of a queue
--   Guard   due, type wanted, not parked, not in quarantine; not of the keys p_except_keys.
--   Locks   ready rows in claim order, skip locked; never waits.
--   Returns how many there are; where those without a key are stored; the ids of those with one; the position of the last.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_jobs.test.ts
-- A row whose xmax names another claimer's transaction is left out before its lock is tried, which takes longer. Where that
-- transaction has rolled back, a sweep still finds the row: a sweep leaves out open transactions only.
-- It runs with the settings of scan_queue.
create or replace function holdfast.lock_due_jobs(
  p_queue text, p_types text[], p_n integer, p_priority smallint, p_run_at timestamptz, p_job_id bigint,
  p_is_sweep boolean, p_except_keys text[], p_now timestamptz,
  out n integer, out unkeyed tid[], out keyed bigint[], out last_run_at timestamptz, out last_job_id bigint
)
  language plpgsql volatile
as $$
declare
  v_open_age constant integer := age(pg_snapshot_xmin(pg_current_snapshot())::xid);  -- what is older has ended
  v_open constant xid[] := array(select x::xid from pg_snapshot_xip(pg_current_snapshot()) as x where p_is_sweep);
begin
  select count(*), array_agg(m.place) filter (where m.key is null), array_agg(m.job_id) filter (where m.key is not null),
         max(m.run_at), (array_agg(m.job_id))[count(*)]
    into n, unkeyed, keyed, last_run_at, last_job_id
    from (
      select r.ctid as place, r.job_id, r.run_at, r.key
        from holdfast.ready as r
       where r.queue = p_queue
         and r.priority = p_priority
         and not r.parked
         and r.crashes < 2  -- one in quarantine runs alone: claim_quarantined
         and r.run_at <= p_now
         and (r.run_at, r.job_id) > (p_run_at, p_job_id)
         and (r.key is null or r.key <> all (p_except_keys))
         and r.type = any (p_types)
         and (r.xmax = 0 or age(r.xmax) > v_open_age or r.key is not null or p_is_sweep and r.xmax <> all (v_open))
       order by r.run_at, r.job_id
       limit p_n
         for update skip locked
    ) as m;
end
$$;

-- The priorities from p_from_priority on that have due jobs, most urgent first; none of a paused queue. One query for all: a
-- claim that finds little does not ask ten times. The priority of a position is returned unread, because the read would meet
-- the dead entries that the position avoids. It runs with the settings of scan_queue.
create or replace function holdfast.due_priorities(p_queue text, p_from_priority integer, p_from_job_id bigint, p_now timestamptz)
  returns smallint[]
  language plpgsql stable  -- a body in SQL would be planned at every call
as $$
begin
  return array(
    select p.priority
      from generate_series(p_from_priority, 9) as p(priority)
     where not exists (select from holdfast.queue as q where q.name = p_queue and q.paused_at is not null)
       and (p.priority = p_from_priority and p_from_job_id > 0
         or (
           select true  -- a scalar with a limit, which the planner cannot turn into a join over the whole backlog
             from holdfast.ready as r
            where r.queue = p_queue
              and r.priority = p.priority
              and not r.parked
              and r.crashes < 2
              and r.run_at <= p_now
            limit 1
         ))
  );
end
$$;
