-- due_priorities: where a scan of a queue starts in each of its priorities
--   Guard   the queue is not paused.
--   Locks   none.
--   Returns the priorities that have due jobs, most urgent first, each with its first position to read behind.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_batch.test.ts
-- One query for all priorities: a claim that finds little does not ask ten times. The priority of a given position is returned
-- unread, because the read would meet the dead entries that the position avoids. It runs with the settings of scan_queue.
create or replace function holdfast.due_priorities(
  p_queue text,
  p_from_priority integer,
  p_from_run_at timestamptz,
  p_from_job_id bigint,
  p_now timestamptz
)
  returns table (priority smallint, run_at timestamptz, job_id bigint)
  language plpgsql stable  -- a body in SQL would be planned at every call
as $$
begin
  return query
    select p.priority::smallint,
           case when p.priority = p_from_priority then p_from_run_at else '-infinity' end,
           case when p.priority = p_from_priority then p_from_job_id else 0 end
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
         ));
end
$$;
