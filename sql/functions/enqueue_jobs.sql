-- enqueue_jobs: none → pending
--   Guard   every member is checked before the first is stored; one bad member refuses all.
--   Locks   dedupe entries in order of their id; for coalescing keys the one pending row.
--   Gives   one job id per member, in order; a known dedupe_id gives the job it made before.
--   Tells   workers: 'always' (a caller's own transaction may commit late), 'sleepers' (only if one sleeps) or 'never'.
-- Members are objects of type, input and the options; p_common holds what all members share.
create or replace function holdfast.enqueue_jobs_v1(
  p_jobs jsonb,
  p_common jsonb default '{}',
  p_wake text default 'always'
)
  returns setof bigint
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_ids bigint[];
  v_queues text[];
  v_first_run_at timestamptz;
  v_place integer;
begin
  perform holdfast.check_members(p_jobs, p_common);

  with asked as materialized (
    select nextval('holdfast.job_id_seq') as id, m.place, m.member, m.type, m.key, m.key_policy, m.dedupe_id, m.tags,
           coalesce(m.queue, y.queue, 'default') as queue,
           coalesce(m.priority, y.priority, 5)::smallint as priority,
           coalesce(m.max_attempts, y.max_attempts, 3)::smallint as max_attempts,
           m.pipeline_id, coalesce(m.run_at, v_now + m.delay, v_now) as run_at, m.input
      from holdfast.read_members(p_jobs, p_common) as m
      left join holdfast.job_type as y on y.type = m.type
     order by m.place
  ),
  stored as (
    insert into holdfast.job
      (id, type, queue, priority, max_attempts, key, key_policy, pipeline_id, tags, dedupe_id, input, created_at)
    overriding system value
    select a.id, a.type, a.queue, a.priority, a.max_attempts, a.key, a.key_policy, a.pipeline_id, a.tags, a.dedupe_id,
           a.input, v_now
      from asked as a
     where a.key_policy is distinct from 'coalesce'
     order by a.type, a.dedupe_id, a.place
    on conflict (type, dedupe_id) where dedupe_id is not null do nothing
    returning job.id
  ),
  queued as (
    insert into holdfast.ready
      (job_id, type, queue, priority, run_at, max_attempts, key, key_policy, rank)
    select a.id, a.type, a.queue, a.priority, a.run_at, a.max_attempts, a.key, a.key_policy,
           case when a.key is not null then a.id end
      from asked as a
      join stored as s on s.id = a.id
     order by a.place
  )
  select array_agg(s.id order by a.place), array_agg(distinct a.queue), min(a.run_at)
    into v_ids, v_queues, v_first_run_at
    from asked as a
    left join stored as s on s.id = a.id;

  -- What was not stored above is a repeated dedupe_id or a coalescing key; both need a fresh look at other transactions.
  if array_position(v_ids, null) is not null then
    for v_place in
      select m.place
        from holdfast.read_members(p_jobs, p_common) as m
       where v_ids[m.place] is null
       order by m.key, m.place
    loop
      v_ids[v_place] := holdfast.enqueue_settled_elsewhere(p_common || (p_jobs -> (v_place - 1)));
    end loop;
  end if;

  perform holdfast.wake_workers(v_queues, v_first_run_at, p_wake);
  return query select i.id from unnest(v_ids) with ordinality as i(id, place) order by i.place;
end
$$;

create or replace function holdfast.enqueue_jobs(p_jobs jsonb, p_common jsonb default '{}', p_wake text default 'always')
  returns setof bigint
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.enqueue_jobs_v1(p_jobs, p_common, p_wake)
$$;
