-- enqueue_jobs: none → pending
--   Guard   every member is checked before the first is stored; one bad member refuses all.
--   Locks   dedupe entries in order of their id; for coalescing keys the one pending row.
--   Returns one job id per member, in order; for a known dedupe_id that of the job it made before.
--   Notifies workers: 'always' (a caller's own transaction may commit late), 'sleepers' (only if one sleeps) or 'never'.
-- Members are objects of type, input and the options; p_common holds what all members share.
create or replace function holdfast.enqueue_jobs_v1(p_jobs jsonb, p_common jsonb default '{}', p_wake text default 'always')
  returns setof bigint
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_ids bigint[];
  v_jobs holdfast.job[];
  v_ready holdfast.ready[];
  v_is_shared boolean;
  v_place integer;
begin
  perform holdfast.check_members(p_jobs, p_common);
  select coalesce(array_agg(m.id), '{}'),
         array_agg(holdfast.job_row(m.id, m.type, m.queue, m.priority, m.max_attempts, m.pipeline_id, m.tags, m.input, v_now,
                                    m.trace, m.key, m.key_policy, m.dedupe_id)),
         array_agg(holdfast.ready_row(m.id, m.type, m.queue, m.priority, m.run_at, m.max_attempts, 0, m.key, m.key_policy,
                                      case when m.key is not null then m.id end,
                                      p_coalescing => m.key_policy is not distinct from 'coalesce')),
         bool_or(m.dedupe_id is not null or m.key_policy is not distinct from 'coalesce')
    into v_ids, v_jobs, v_ready, v_is_shared
    from (
      select nextval('holdfast.job_id_seq') as id, r.* from holdfast.read_members(p_jobs, p_common, v_now) as r
    ) as m;

  if v_is_shared then
    -- Others may have made these already: one by one, in an order that two batches cannot deadlock over.
    for v_place in
      select j.place
        from unnest(v_jobs) with ordinality as j(id, type, queue, priority, max_attempts, key, key_policy, pipeline_id, tags,
                                                 dedupe_id, input, created_at, trace, place)
       order by j.key, j.type, j.dedupe_id, j.place
    loop
      v_ids[v_place] := holdfast.enqueue_shared(v_jobs[v_place], v_ready[v_place],
        coalesce(p_jobs -> (v_place - 1) ->> 'coalesce', p_common ->> 'coalesce') is not distinct from 'keep');
    end loop;
  else
    perform holdfast.place_jobs(v_jobs), holdfast.place_ready(v_ready);
  end if;
  perform holdfast.wake_workers(array_agg(distinct r.queue), min(r.run_at), p_wake) from unnest(v_ready) as r;
  return query select i.id from unnest(v_ids) as i(id);
end
$$;

-- Stores a job that another transaction may have made already; waits for an open one that enqueues the same. Returns the known
-- id for a repeated dedupe_id; for a coalescing key that of the pending job, or of the new one.
create or replace function holdfast.enqueue_shared(p_job holdfast.job, p_ready holdfast.ready, p_keeps boolean) returns bigint
  language plpgsql volatile set search_path = pg_catalog, pg_temp
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

create or replace function holdfast.enqueue_jobs(jobs jsonb, common jsonb default '{}', wake text default 'always')
  returns setof bigint
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.enqueue_jobs_v1(jobs, common, wake) $$;
