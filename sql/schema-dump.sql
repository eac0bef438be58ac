-- The schema as text, one fact per line: what a reader of a change wants to see change. Days of outcome are left out, since
-- they differ from day to day; bodies of functions stand in their own files.
with facts as (
  select 1 as part, format('table %s', c.relname) as subject, 0 as place,
         format('table %s%s', c.relname, coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '')) as line
    from pg_class as c
   where c.relnamespace = 'holdfast'::regnamespace and c.relkind in ('r', 'p')
     and (not c.relispartition or c.relname = 'outcome_default')
  union all
  select 1, format('table %s', c.relname), a.attnum,
         format('  %s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' end,
                case when a.attidentity <> '' then ' identity' else coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') end)
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef as d on d.adrelid = c.oid and d.adnum = a.attnum
   where c.relnamespace = 'holdfast'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  union all
  select 1, format('table %s', c.relname), 1000, format('  constraint %s %s', k.conname, pg_get_constraintdef(k.oid))
    from pg_constraint as k
    join pg_class as c on c.oid = k.conrelid
   where c.relnamespace = 'holdfast'::regnamespace and not c.relispartition and k.contype <> 'n'
  union all
  select 1, format('table %s', c.relname), 2000, '  ' || pg_get_indexdef(i.indexrelid)
    from pg_index as i
    join pg_class as c on c.oid = i.indrelid
   where c.relnamespace = 'holdfast'::regnamespace and not c.relispartition
  union all
  select 2, format('view %s', c.relname), a.attnum, format('view %s column %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod))
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
   where c.relnamespace = 'holdfast'::regnamespace and c.relkind = 'v'
  union all
  select 3, p.proname, 0,
         format('function %s(%s) returns %s%s granted to %s', p.proname, pg_get_function_arguments(p.oid),
                pg_get_function_result(p.oid), case when p.prosecdef then ' security definer' else '' end,
                coalesce((select string_agg(distinct g.grantee::regrole::text, ', ' order by g.grantee::regrole::text)
                            from aclexplode(p.proacl) as g where g.grantee <> p.proowner), 'nobody'))
    from pg_proc as p
   where p.pronamespace = 'holdfast'::regnamespace
)
select f.line from facts as f order by f.part, f.subject, f.place, f.line
