-- read_members: the members of an enqueue as rows, with their types' defaults and the moment they are due
--   Guard   none; check_members has checked them.
--   Locks   none.
--   Returns one row per member with its place from 1; a member's own option wins over what read_common returns.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_jobs.test.ts
create or replace function holdfast.read_members(p_jobs jsonb, p_common jsonb, p_now timestamptz)
  returns table (
    place integer, type text, input jsonb, queue text, priority smallint, max_attempts smallint, run_at timestamptz,
    key text, key_policy text, pipeline_id uuid, tags text[], dedupe_id text, trace text
  )
  language plpgsql stable  -- a body in SQL would be planned at every call
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    with members as materialized (
      select j.place, j.own, coalesce(j.own ->> 'type', p_common ->> 'type') as type,
             coalesce(j.own ->> 'key', p_common ->> 'key') as key
        from jsonb_array_elements(p_jobs) with ordinality as j(own, place)
    ),
    shared as materialized (
      select t.type, c.*
        from (select distinct m.type from members as m) as t
       cross join lateral holdfast.read_common(t.type, p_common, p_now) as c
    )
    select m.place::integer,
           m.type,
           coalesce(m.own -> 'input', p_common -> 'input', '{}'),
           coalesce(m.own ->> 'queue', s.queue),
           coalesce((m.own ->> 'priority')::smallint, s.priority),
           coalesce((m.own ->> 'max_attempts')::smallint, s.max_attempts),
           coalesce((m.own ->> 'run_at')::timestamptz, p_now + holdfast.delay_interval(m.own -> 'delay'), s.run_at),
           m.key,
           case when m.key is not null
             then coalesce(m.own ->> 'key_policy', p_common ->> 'key_policy', 'exclusive') end,
           coalesce((m.own ->> 'pipeline_id')::uuid, s.pipeline_id),
           case when m.own ? 'tags' then array(select jsonb_array_elements_text(m.own -> 'tags')) else s.tags end,
           coalesce(m.own ->> 'dedupe_id', p_common ->> 'dedupe_id'),
           coalesce(m.own ->> 'trace', s.trace)
      from members as m
      join shared as s on s.type = m.type
     order by m.place;
end
$$;

-- Each option's common value, or else that of the type, or else the default. Without settings of its own: it runs under its
-- callers'. Statements and not one query: only the options that are given take time.
create or replace function holdfast.read_common(
  p_type text, p_common jsonb, p_now timestamptz,
  out queue text, out priority smallint, out max_attempts smallint, out run_at timestamptz, out pipeline_id uuid,
  out tags text[], out trace text, out lease_seconds integer
)
  language plpgsql stable
as $$
begin
  select y.queue, y.priority, y.max_attempts, y.lease_seconds
    into queue, priority, max_attempts, lease_seconds
    from holdfast.job_type as y
   where y.type = p_type;
  queue := coalesce(p_common ->> 'queue', queue, 'default');
  priority := coalesce((p_common ->> 'priority')::smallint, priority, 5::smallint);
  max_attempts := coalesce((p_common ->> 'max_attempts')::smallint, max_attempts, 3::smallint);
  lease_seconds := coalesce(lease_seconds, holdfast.lease_seconds_v1(p_type));
  run_at := p_now;
  tags := '{}';
  if p_common ?| '{run_at,delay,pipeline_id,tags,trace}' then
    run_at := coalesce((p_common ->> 'run_at')::timestamptz, p_now + holdfast.delay_interval(p_common -> 'delay'), p_now);
    pipeline_id := p_common ->> 'pipeline_id';
    if p_common ? 'tags' then
      tags := array(select jsonb_array_elements_text(p_common -> 'tags'));
    end if;
    trace := p_common ->> 'trace';
  end if;
end
$$;

-- Milliseconds for a number, or the interval that a text spells.
create or replace function holdfast.delay_interval(p_delay jsonb) returns interval
  language sql immutable parallel safe
as $$
  select case jsonb_typeof(p_delay)
    when 'number' then make_interval(secs => (p_delay #>> '{}')::double precision / 1000)
    else (p_delay #>> '{}')::interval
  end
$$;
