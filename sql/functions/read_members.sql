-- read_members: the members of an enqueue as typed rows
--   Guard   none; check_members has looked at them.
--   Locks   none.
--   Gives   one row per member with its place from 1; a member's own option wins over the common one.
--   Tells   nothing.
--   Tested by  test/sql/enqueue_jobs.test.ts
create or replace function holdfast.read_members(p_jobs jsonb, p_common jsonb)
  returns table (
    place integer, member jsonb, type text, input jsonb, queue text, priority integer, max_attempts integer,
    run_at timestamptz, delay interval, key text, key_policy text, pipeline_id uuid, tags text[], dedupe_id text
  )
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select m.place::integer,
         m.member,
         m.own ->> 'type',
         case when m.own ? 'input' then m.own -> 'input' else '{}' end,
         m.own ->> 'queue',
         (m.own ->> 'priority')::integer,
         (m.own ->> 'max_attempts')::integer,
         (m.own ->> 'run_at')::timestamptz,
         case jsonb_typeof(m.own -> 'delay')
           when 'number' then make_interval(secs => (m.own ->> 'delay')::double precision / 1000)
           else (m.own ->> 'delay')::interval
         end,
         m.own ->> 'key',
         case when m.own ? 'key' then coalesce(m.own ->> 'key_policy', 'exclusive') end,
         (m.own ->> 'pipeline_id')::uuid,
         case when m.own ? 'tags' then array(select jsonb_array_elements_text(m.own -> 'tags')) else '{}' end,
         m.own ->> 'dedupe_id'
    from (
      select j.place, j.member, case when p_common = '{}' then j.member else p_common || j.member end as own
        from jsonb_array_elements(p_jobs) with ordinality as j(member, place)
    ) as m
$$;
