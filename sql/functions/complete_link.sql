-- complete_link: running → completed for one step of a pipeline, and waiting → running for the one that comes after it
--   Guard   the caller holds the lease (job id, token, lease id) of a step without a key. What comes after it is claimed if it
--           waits for nothing more, has no key and a type that the caller has a handler for, and its queue is not paused and
--           has room.
--   Locks   the lease row, then the successor's waiting row; for other shapes of a graph as settle_steps.
--   Gives   null when it is no such lease: nothing has changed. Else handed: as claimed_jobs, with the facts that a computed
--           input is made of where they are small; and pending: what has become pending and was not handed over.
--   Tells   nothing.
--   Tested by  test/sql/complete_link.test.ts
-- Each statement is of the cheapest kind: to set one up takes longer than to run it, and joins and aggregates most of all. For
-- the same reason the settings that pin the plans are the caller's.
create or replace function holdfast.complete_link(
  p_member jsonb,
  p_worker text,
  p_queues text[],
  p_rooms integer[],
  p_types text[],
  out is_done boolean,
  out handed json,
  out pending bigint[]
)
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_id constant bigint := p_member ->> 'job_id';
  v_token constant bigint := p_member ->> 'token';
  v_lease_id constant uuid := p_member ->> 'lease_id';
  v_output constant jsonb := nullif(p_member -> 'output', 'null');
  v_after bigint[];
  v_next record;
begin
  with ended as (
    delete from holdfast.lease as l
     where l.job_id = v_id
       and l.token = v_token
       and l.lease_id = v_lease_id
       and l.key is null
       and l.linked
    returning l.attempts, l.locked_by, l.locked_at, l.run_at
  )
  insert into holdfast.outcome
    (job_id, state, attempts, token, lease_id, locked_by, locked_at, run_at, finished_at, output)
  select v_id, 'completed', e.attempts, v_token, v_lease_id, e.locked_by, e.locked_at, e.run_at, v_now, v_output
    from ended as e;
  is_done := found;
  if not is_done then
    return;
  end if;

  v_after := array(select d.job_id from holdfast.dependency as d where d.depends_on = v_id);
  if cardinality(v_after) = 1 then
    select w.job_id, w.token, w.open, w.type, w.queue
      into v_next
      from holdfast.waiting as w
     where w.job_id = v_after[1]
       for update;
  end if;
  -- Where something waits, the pipeline has not stopped and lives on. Where nothing does, this may have been its end.
  if v_next is null then
    pending := holdfast.settle_steps(array[v_id], 'completed', 'never');
  elsif v_next.open > 1 then
    update holdfast.waiting as w set open = w.open - 1 where w.job_id = v_next.job_id;
  else
    if v_next.type = any (p_types) and p_rooms[array_position(p_queues, v_next.queue)] > 0 then
      handed := holdfast.claim_link(v_next.job_id, v_next.token, p_worker, v_now, pg_column_size(v_output));
    end if;
    delete from holdfast.waiting as w where w.job_id = v_next.job_id;
    if handed is null then
      perform holdfast.ready_steps(v_after, array[v_next.token]);
      pending := v_after;
    end if;
  end if;
end
$$;
