-- enqueue_shared: none → pending, where another transaction may have made the job already
--   Guard   check_members has checked the member that p_job and p_ready come from.
--   Locks   the dedupe entry; the key's one pending row (coalescing). Waits for an open transaction that enqueues the same.
--   Returns the job's id: the known one for a repeated dedupe_id; the pending one for a coalescing key, or the new one.
--   Notifies nothing; enqueue_jobs does.
--   Tested by  test/sql/enqueue/coalesce.test.ts
create or replace function holdfast.enqueue_shared(p_job holdfast.job, p_ready holdfast.ready, p_keeps boolean)
  returns bigint
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
  v_is_coalescing boolean;
begin
  loop
    select j.id into v_id from holdfast.job as j where j.type = p_job.type and j.dedupe_id = p_job.dedupe_id;
    if found then
      return v_id;
    end if;

    if p_ready.coalescing then
      -- Locked until the caller commits: the run must not start before what it is about can be seen. No other transaction can
      -- un-park a locked row, so it is un-parked here; a claim that finds its key held parks it again.
      select r.job_id, r.coalescing
        into v_id, v_is_coalescing
        from holdfast.ready as r
       where r.key = p_job.key
         and r.key_policy = 'coalesce'
       order by r.coalescing and not p_keeps desc, r.rank desc  -- a retried job may be newer than the one to merge into
       limit 1
         for update;
      if found and p_keeps then
        update holdfast.ready as r set parked = false, unparked = true where r.job_id = v_id and r.parked;
        return v_id;
      elsif found and v_is_coalescing then
        update holdfast.job as j
           set input = p_job.input, priority = p_job.priority, max_attempts = p_job.max_attempts, tags = p_job.tags,
               type = p_job.type, queue = p_job.queue, trace = p_job.trace
         where j.id = v_id;
        update holdfast.ready as r
           set run_at = p_ready.run_at, priority = p_ready.priority, max_attempts = p_ready.max_attempts,
               type = p_ready.type, queue = p_ready.queue, parked = false, unparked = false,
               rank = nextval('holdfast.job_id_seq')  -- the last enqueue is the newest
         where r.job_id = v_id;
        return v_id;
      end if;
    end if;

    continue when holdfast.place_jobs(array[p_job]) = 0;  -- another transaction has just made it
    if holdfast.place_ready(array[p_ready]) = 1 then
      return p_job.id;
    end if;
    -- Another transaction's row of this key has just appeared: merge into that one.
    delete from holdfast.job as j where j.id = p_job.id;
  end loop;
end
$$;
