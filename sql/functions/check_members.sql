-- check_members: refuses an enqueue whose members cannot all be stored
--   Guard   none.
--   Locks   none.
--   Gives   nothing; raises INVALID_OPTION or INVALID_INPUT naming the first bad member's place from 0.
--   Tells   nothing.
--   Tested by  test/sql/enqueue_jobs.test.ts
create or replace function holdfast.check_members(p_jobs jsonb, p_common jsonb)
  returns void
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_plain constant text[] := array['type', 'input'];  -- members with nothing else need no look at their options
  v_bad record;
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    perform holdfast.refuse('INVALID_OPTION', 'jobs must be a JSON array of objects',
      jsonb_build_object('received', left(p_jobs::text, 100)));
  elsif jsonb_typeof(p_common) is distinct from 'object' then
    perform holdfast.refuse('INVALID_OPTION', 'common options must be a JSON object',
      jsonb_build_object('received', left(p_common::text, 100)));
  end if;

  select c.place, c.code, c.problem
    into v_bad
    from (
      select m.place - 1 as place,
             case
               when jsonb_typeof(m.own) <> 'object' or not t.is_fine then 'INVALID_OPTION'
               when i.problem is not null then 'INVALID_INPUT'
               when o.problem is not null then 'INVALID_OPTION'
             end as code,
             case
               when jsonb_typeof(m.own) <> 'object' then 'a job must be a JSON object'
               when not t.is_fine then 'type must be text of 1 to 100 characters without control characters'
               when i.problem is not null then 'input ' || i.problem
               else o.problem
             end as problem
        from (
          select j.place,
                 case
                   when p_common = '{}' or jsonb_typeof(j.member) <> 'object' then j.member
                   else p_common || j.member
                 end as own
            from jsonb_array_elements(p_jobs) with ordinality as j(member, place)
          offset 0  -- keeps the planner from working out own at each of its uses
        ) as m
        cross join lateral (
          select jsonb_typeof(m.own -> 'type') is not distinct from 'string'
             and m.own ->> 'type' ~ '^[^[:cntrl:]]{1,100}$' as is_fine
        ) as t
        cross join lateral (
          select case when m.own ? 'input' then holdfast.input_problem(m.own -> 'input') end as problem
        ) as i
        cross join lateral (
          select case
            when jsonb_typeof(m.own) <> 'object' or m.own - v_plain = '{}' then null
            else holdfast.option_problem(m.own - v_plain)
          end as problem
        ) as o
    ) as c
   where c.code is not null
   order by c.place
   limit 1;

  if found then
    perform holdfast.refuse(v_bad.code, v_bad.problem, jsonb_build_object('place', v_bad.place));
  end if;
end
$$;
