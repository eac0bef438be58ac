-- enqueue_shared: none → pending, where another transaction may have made the job already
--   Guard   check_members has looked at the member.
--   Locks   the dedupe entry; the key's one pending row (coalescing). Waits for an open transaction that enqueues the same.
--   Returns the job's id: the known one for a repeated dedupe_id; the pending one for a coalescing key, or a new one.
--   Notifies nothing; enqueue_jobs does.
--   Tested by  test/sql/enqueue/coalesce.test.ts
create or replace function holdfast.enqueue_shared(p_member jsonb, p_now timestamptz)
  returns bigint
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_keeps constant boolean := p_member ->> 'coalesce' is not distinct from 'keep';
  v_asked record;
  v_pending record;
  v_id bigint;
begin
  select m.*, m.key_policy is not distinct from 'coalesce' as coalesces
    into v_asked
    from holdfast.read_members(jsonb_build_array(p_member), '{}', p_now) as m;

  loop
    if v_asked.dedupe_id is not null then
      select j.id into v_id from holdfast.job as j where j.type = v_asked.type and j.dedupe_id = v_asked.dedupe_id;
      if found then
        return v_id;
      end if;
    end if;

    if v_asked.coalesces then
      -- Locked until the caller commits: the run must not start before what it is about can be seen. Since nobody can
      -- un-park a locked row, it is un-parked here; a claim that finds its key held parks it again.
      select r.job_id, r.coalescing
        into v_pending
        from holdfast.ready as r
       where r.key = v_asked.key
         and r.key_policy = 'coalesce'
       order by r.coalescing and not v_keeps desc, r.rank desc  -- a retried job may be newer than the one to merge into
       limit 1
         for update;
      if found and v_keeps then
        update holdfast.ready as r set parked = false, unparked = true where r.job_id = v_pending.job_id and r.parked;
        return v_pending.job_id;
      elsif found and v_pending.coalescing then
        update holdfast.job as j
           set input = v_asked.input, priority = v_asked.priority, max_attempts = v_asked.max_attempts,
               tags = v_asked.tags, type = v_asked.type, queue = v_asked.queue, trace = v_asked.trace
         where j.id = v_pending.job_id;
        update holdfast.ready as r
           set run_at = v_asked.run_at, priority = v_asked.priority, max_attempts = v_asked.max_attempts,
               type = v_asked.type, queue = v_asked.queue, parked = false, unparked = false,
               rank = nextval('holdfast.job_id_seq')  -- what was asked last is the newest
         where r.job_id = v_pending.job_id;
        return v_pending.job_id;
      end if;
    end if;

    insert into holdfast.job
      (type, queue, priority, max_attempts, key, key_policy, pipeline_id, tags, dedupe_id, input, created_at, trace)
    values (v_asked.type, v_asked.queue, v_asked.priority, v_asked.max_attempts, v_asked.key, v_asked.key_policy,
            v_asked.pipeline_id, v_asked.tags, v_asked.dedupe_id, v_asked.input, p_now, v_asked.trace)
    on conflict (type, dedupe_id) where dedupe_id is not null do nothing
    returning job.id into v_id;
    continue when not found;  -- another transaction has just made it

    insert into holdfast.ready
      (job_id, type, queue, priority, run_at, max_attempts, key, key_policy, rank, coalescing)
    values (v_id, v_asked.type, v_asked.queue, v_asked.priority, v_asked.run_at, v_asked.max_attempts, v_asked.key,
            v_asked.key_policy, case when v_asked.key is not null then v_id end, v_asked.coalesces)
    on conflict (key) where coalescing do nothing;
    if found then
      return v_id;
    end if;
    -- Another transaction's row of this key has just appeared: merge into that one.
    delete from holdfast.job as j where j.id = v_id;
  end loop;
end
$$;
