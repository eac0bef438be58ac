-- enqueue_settled_elsewhere: none → pending, where another transaction may have made the job already
--   Guard   check_members has looked at the member.
--   Locks   the key's one pending row (coalescing); waits for another open transaction that enqueues the same.
--   Gives   the job's id: the known one for a repeated dedupe_id; the pending one for a coalescing key, or a new one.
--   Tells   nothing; enqueue_jobs does.
--   Tested by  test/sql/coalesce.test.ts
create or replace function holdfast.enqueue_settled_elsewhere(p_member jsonb)
  returns bigint
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_keeps constant boolean := p_member ->> 'coalesce' is not distinct from 'keep';
  v_asked record;
  v_pending record;
  v_id bigint;
begin
  select m.*, coalesce(m.queue, y.queue, 'default') as its_queue,
         coalesce(m.priority, y.priority, 5)::smallint as its_priority,
         coalesce(m.max_attempts, y.max_attempts, 3)::smallint as its_max_attempts,
         coalesce(m.run_at, v_now + m.delay, v_now) as its_run_at
    into v_asked
    from holdfast.read_members(jsonb_build_array(p_member), '{}') as m
    left join holdfast.job_type as y on y.type = m.type;

  select j.id into v_id from holdfast.job as j where j.type = v_asked.type and j.dedupe_id = v_asked.dedupe_id;
  if found then
    return v_id;
  elsif v_asked.key_policy is distinct from 'coalesce' then
    -- The job that held this dedupe_id was pruned in between.
    return (select e.id from holdfast.enqueue_jobs_v1(jsonb_build_array(p_member), '{}', 'never') as e(id));
  end if;

  loop
    -- Locked until the caller commits: the run must not start before what it is about can be seen. Since nobody can un-park
    -- a locked row, it is un-parked here; a claim that finds its key held parks it again.
    select r.job_id, r.coalescing
      into v_pending
      from holdfast.ready as r
     where r.key = v_asked.key
       and r.key_policy = 'coalesce'
     order by r.rank desc
     limit 1
       for update;

    if found and v_keeps then
      update holdfast.ready as r set parked = false where r.job_id = v_pending.job_id and r.parked;
      return v_pending.job_id;
    elsif found and v_pending.coalescing then
      update holdfast.job as j
         set input = v_asked.input, priority = v_asked.its_priority, max_attempts = v_asked.its_max_attempts,
             tags = v_asked.tags, type = v_asked.type, queue = v_asked.its_queue
       where j.id = v_pending.job_id;
      update holdfast.ready as r
         set run_at = v_asked.its_run_at, priority = v_asked.its_priority, max_attempts = v_asked.its_max_attempts,
             type = v_asked.type, queue = v_asked.its_queue, parked = false
       where r.job_id = v_pending.job_id;
      return v_pending.job_id;
    end if;

    insert into holdfast.job
      (type, queue, priority, max_attempts, key, key_policy, pipeline_id, tags, dedupe_id, input, created_at)
    values (v_asked.type, v_asked.its_queue, v_asked.its_priority, v_asked.its_max_attempts, v_asked.key,
            v_asked.key_policy, v_asked.pipeline_id, v_asked.tags, v_asked.dedupe_id, v_asked.input, v_now)
    on conflict (type, dedupe_id) where dedupe_id is not null do nothing
    returning job.id into v_id;
    if not found then
      select j.id into v_id from holdfast.job as j where j.type = v_asked.type and j.dedupe_id = v_asked.dedupe_id;
      return v_id;
    end if;

    insert into holdfast.ready
      (job_id, type, queue, priority, run_at, max_attempts, key, key_policy, rank, coalescing)
    values (v_id, v_asked.type, v_asked.its_queue, v_asked.its_priority, v_asked.its_run_at, v_asked.its_max_attempts,
            v_asked.key, v_asked.key_policy, v_id, true)
    on conflict (key) where coalescing do nothing;
    if found then
      return v_id;
    end if;
    -- Another transaction's row has just appeared: merge into that one.
    delete from holdfast.job as j where j.id = v_id;
  end loop;
end
$$;
