-- due_priorities: which priorities of a queue a claim scans
--   Guard   the queue is not paused.
--   Locks   none.
--   Returns the priorities that have due jobs, from p_from_priority on, most urgent first.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_batch.test.ts
-- One query for all: a claim that finds little does not ask ten times. The priority of a position is returned unread, because
-- the read would meet the dead entries that the position avoids. It runs with the settings of scan_queue.
create or replace function holdfast.due_priorities(
  p_queue text,
  p_from_priority integer,
  p_from_job_id bigint,
  p_now timestamptz
)
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
