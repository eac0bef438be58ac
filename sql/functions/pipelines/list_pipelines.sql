-- list_pipelines: the pipelines that were enqueued as such, newest first
--   Guard   none.
--   Locks   none.
--   Returns up to p_limit pipelines; with p_queues, those with no job in any other queue. It counts the states of the newest 200
--           jobs of each; is_capped says that there are more, and then the state may miss an older job that still runs. next
--           of each row is where the next page begins, null after the last page; an empty page is one row with next alone.
--           With p_queues a page reads at most 1,000 pipelines. Raises INVALID_OPTION.
--   Notifies nothing.
create or replace function holdfast.list_pipelines_v1(
  p_after text default null, p_limit integer default 50, p_queues text[] default null
)
  returns table (
    id uuid, name text, on_failure text, state text, result_job bigint, stopped_by bigint, stopped_at timestamptz,
    compensated_at timestamptz, created_at timestamptz, waiting integer, pending integer, running integer, completed integer,
    failed integer, cancelled integer, superseded integer, is_capped boolean, next text
  )
  language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_most constant integer := 1000;
  v_now constant timestamptz := holdfast.now();
  v_after constant text[] := regexp_match(p_after, '^(\d{1,17}):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$');
  v_before constant timestamptz := coalesce(timestamptz 'epoch' + v_after[1]::bigint * interval '1 microsecond', 'infinity');
  v_before_id constant uuid := coalesce(v_after[2]::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_found uuid[];
  v_seen uuid[];
  v_last uuid;
begin
  if p_limit is null or p_limit not between 1 and 200 then
    perform holdfast.refuse('INVALID_OPTION', 'limit must be from 1 to 200', jsonb_build_object('received', p_limit));
  elsif p_after is not null and v_after is null then
    perform holdfast.refuse('INVALID_OPTION', 'after is no position in a list of pipelines',
      jsonb_build_object('received', left(p_after, 100)));
  end if;

  with seen as materialized (
    select p.id, p.created_at,
           -- The planner cannot turn a scalar with a limit into a join with all jobs.
           p_queues is null
             or (select true from holdfast.job as j where j.pipeline_id = p.id and j.queue <> all (p_queues) limit 1) is null
             as fits
      from holdfast.pipeline as p
     where (p.created_at, p.id) < (v_before, v_before_id)
     order by p.created_at desc, p.id desc
     limit case when p_queues is null then p_limit else v_most end
  )
  select (array_agg(k.id order by k.created_at desc, k.id desc) filter (where k.fits))[:p_limit],
         array_agg(k.id order by k.created_at desc, k.id desc)
    into v_found, v_seen
    from seen as k;
  v_last := case when cardinality(v_found) = p_limit then v_found[p_limit] else v_seen[v_most] end;
  next := (
    select format('%s:%s', (extract(epoch from p.created_at) * 1000000)::bigint, p.id)
      from holdfast.pipeline as p
     where p.id = v_last
  );

  return query
    select r.*, list_pipelines_v1.next
      from (select) as one
      left join lateral (
        select p.id, p.name, p.on_failure,
               case
                 when c.waiting + c.pending + c.running > 0 or (
                   select true from holdfast.waiting as o where o.pipeline_id = p.id limit 1
                 ) then 'running'
                 else coalesce(e.state, case when c.failed > 0 then 'failed' end,
                               case when c.cancelled > 0 then 'cancelled' end, 'completed')
               end,
               p.result_job, p.stopped_by, p.stopped_at, p.compensated_at, p.created_at, c.waiting, c.pending, c.running,
               c.completed, c.failed, c.cancelled, c.superseded, c.is_capped
          from unnest(v_found) with ordinality as w(id, place)
         cross join lateral (select b.* from holdfast.pipeline as b where b.id = w.id limit 1) as p
         cross join lateral (
           select count(*) filter (where s.state = 'waiting')::integer as waiting,
                  count(*) filter (where s.state = 'pending')::integer as pending,
                  count(*) filter (where s.state = 'running')::integer as running,
                  count(*) filter (where s.state = 'completed')::integer as completed,
                  count(*) filter (where s.state = 'failed')::integer as failed,
                  count(*) filter (where s.state = 'cancelled')::integer as cancelled,
                  count(*) filter (where s.state = 'superseded')::integer as superseded,
                  count(*) > 200 as is_capped
             from (
               select j.id
                 from holdfast.job as j
                where j.pipeline_id >= w.id
                  and (j.pipeline_id, j.id) <= (w.id, 9223372036854775807)
                order by j.pipeline_id desc, j.id desc
                limit 201
             ) as j
            cross join lateral holdfast.summarize_job(j.id, null, v_now) as s
         ) as c
          left join lateral holdfast.summarize_job(coalesce(p.stopped_by, p.result_job), null, v_now) as e on true
         order by w.place
      ) as r on true;
end
$$;
