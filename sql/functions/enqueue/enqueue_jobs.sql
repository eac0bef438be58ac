-- enqueue_jobs: none → pending
--   Guard   every member is checked before the first is stored; one bad member refuses all.
--   Locks   dedupe entries in order of their id; for coalescing keys the one pending row.
--   Returns one job id per member, in order; a known dedupe_id gives the job it made before.
--   Notifies workers: 'always' (a caller's own transaction may commit late), 'sleepers' (only if one sleeps) or 'never'.
-- Members are objects of type, input and the options; p_common holds what all members share.
create or replace function holdfast.enqueue_jobs_v1(
  p_jobs jsonb,
  p_common jsonb default '{}',
  p_wake text default 'always'
)
  returns setof bigint
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_ids bigint[];
  v_queues text[];
  v_first_run_at timestamptz;
  v_place integer;
begin
  perform holdfast.check_members(p_jobs, p_common);

  if p_common ? 'dedupe_id'
    or p_common ->> 'key_policy' = 'coalesce'
    or jsonb_path_exists(p_jobs, '$[*] ? (exists (@.dedupe_id) || @.key_policy == "coalesce")')
  then
    -- These may be there already, made by others: one by one, in an order that two batches cannot deadlock over.
    v_ids := array_fill(null::bigint, array[jsonb_array_length(p_jobs)]);
    for v_place in
      select m.place
        from holdfast.read_members(p_jobs, p_common, v_now) as m
       order by m.key, m.type, m.dedupe_id, m.place
    loop
      v_ids[v_place] := holdfast.enqueue_shared(p_common || (p_jobs -> (v_place - 1)), v_now);
    end loop;
    select array_agg(distinct m.queue), min(m.run_at)
      into v_queues, v_first_run_at
      from holdfast.read_members(p_jobs, p_common, v_now) as m;
  else
    with asked as materialized (
      select nextval('holdfast.job_id_seq') as id, m.*
        from holdfast.read_members(p_jobs, p_common, v_now) as m
    ),
    stored as (
      insert into holdfast.job
        (id, type, queue, priority, max_attempts, key, key_policy, pipeline_id, tags, input, created_at, trace)
      overriding system value
      select a.id, a.type, a.queue, a.priority, a.max_attempts, a.key, a.key_policy, a.pipeline_id, a.tags, a.input, v_now,
             a.trace
        from asked as a
    ),
    queued as (
      insert into holdfast.ready
        (job_id, type, queue, priority, run_at, max_attempts, key, key_policy, rank)
      select a.id, a.type, a.queue, a.priority, a.run_at, a.max_attempts, a.key, a.key_policy,
             case when a.key is not null then a.id end
        from asked as a
    )
    select array_agg(a.id order by a.place), array_agg(distinct a.queue), min(a.run_at)
      into v_ids, v_queues, v_first_run_at
      from asked as a;
  end if;

  perform holdfast.wake_workers(v_queues, v_first_run_at, p_wake);
  return query select i.id from unnest(v_ids) with ordinality as i(id, place) order by i.place;
end
$$;

create or replace function holdfast.enqueue_jobs(jobs jsonb, common jsonb default '{}', wake text default 'always')
  returns setof bigint
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select * from holdfast.enqueue_jobs_v1(jobs, common, wake)
$$;
