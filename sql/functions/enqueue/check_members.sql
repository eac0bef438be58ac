-- check_members: refuses an enqueue whose members cannot all be stored
--   Guard   none.
--   Locks   none.
--   Returns nothing; raises INVALID_OPTION or INVALID_INPUT naming the first bad member's place from 0.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_jobs.test.ts
create or replace function holdfast.check_members(p_jobs jsonb, p_common jsonb) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_plain constant text[] := array['type', 'input'];  -- other members have the common options, which are checked once
  v_has_type constant boolean := p_common ? 'type';
  v_bad record;
begin
  perform holdfast.check_common(p_common);
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    perform holdfast.refuse('INVALID_OPTION', 'jobs must be a JSON array of objects',
      jsonb_build_object('received', left(p_jobs::text, 100)));
  end if;

  select m.place - 1 as place,
         case
           when jsonb_typeof(m.member) <> 'object' then 'a job must be a JSON object'
           when not t.is_fine then 'type must be text of 1 to 100 characters without control characters'
           when i.problem is not null then 'input ' || i.problem
           else o.problem
         end as problem,
         case when jsonb_typeof(m.member) = 'object' and t.is_fine and i.problem is not null then 'INVALID_INPUT'
              else 'INVALID_OPTION' end as code
    into v_bad
    from jsonb_array_elements(p_jobs) with ordinality as m(member, place)
   cross join lateral (
     select case
       when m.member ? 'type' then holdfast.is_type(m.member -> 'type')
       else v_has_type
     end as is_fine
   ) as t
   cross join lateral (
     select case when m.member ? 'input' and not holdfast.is_short(m.member -> 'input')
              then holdfast.input_problem(m.member -> 'input') end as problem
   ) as i
   cross join lateral (
     select case when jsonb_typeof(m.member) = 'object' and m.member - v_plain <> '{}'
              then holdfast.option_problem((p_common || m.member) - v_plain) end as problem
   ) as o
   where jsonb_typeof(m.member) <> 'object'
      or not t.is_fine
      or i.problem is not null
      or o.problem is not null
   order by m.place
   limit 1;

  if found then
    perform holdfast.refuse(v_bad.code, v_bad.problem, jsonb_build_object('place', v_bad.place));
  end if;
end
$$;

-- Refuses what all members share, if it cannot be stored.
create or replace function holdfast.check_common(p_common jsonb) returns void
  language plpgsql stable
as $$
declare
  v_problem text;
begin
  if jsonb_typeof(p_common) is distinct from 'object' then
    perform holdfast.refuse('INVALID_OPTION',
      'common options must be a JSON object, received ' || coalesce(left(p_common::text, 100), 'NULL'),
      jsonb_build_object('place', 0));
  end if;
  v_problem := case
    when p_common ? 'type' and not holdfast.is_type(p_common -> 'type')
      then 'type must be text of 1 to 100 characters without control characters'
    else holdfast.option_problem(p_common - array['type', 'input'])
  end;
  if v_problem is not null then
    perform holdfast.refuse('INVALID_OPTION', v_problem, jsonb_build_object('place', 0));
  elsif p_common ? 'input' then
    v_problem := holdfast.input_problem(p_common -> 'input');
    if v_problem is not null then
      perform holdfast.refuse('INVALID_INPUT', 'input ' || v_problem, jsonb_build_object('place', 0));
    end if;
  end if;
end
$$;

-- Whether the common options are a type and no others than most enqueues have, all of them fine: an expression takes half the
-- time of check_common. Without settings of its own, so that the planner puts its body where it is called.
create or replace function holdfast.is_plain(p_common jsonb) returns boolean
  language sql immutable parallel safe
as $$
  select case when jsonb_typeof(p_common) = 'object' then
    p_common - '{type,queue,priority,max_attempts}'::text[] = '{}'
    and holdfast.is_type(p_common -> 'type')
    and holdfast.is_type(coalesce(p_common -> 'queue', '"default"'))  -- the rule for names of queues is the same
    and coalesce(p_common ->> 'priority', '5') ~ '^[0-9]$'
    and coalesce(p_common ->> 'max_attempts', '3') ~ '^([1-9][0-9]{0,2}|1000)$'
  else false end
$$;
