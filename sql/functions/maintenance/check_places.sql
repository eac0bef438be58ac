-- check_places: finds jobs that are not in exactly one place, and keys and waiting jobs that do not fit the jobs
--   Guard   none.
--   Locks   none.
--   Returns one row per violation; none when all is well. Reads everything: for tests and for doctor, not for dashboards.
--   Notifies nothing.
create or replace function holdfast.check_places_v1()
  returns table (job_id bigint, problem text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_nestloop = off  -- statistics that call the tables empty make it compare all jobs with all others
as $$
  with places as (
    select r.job_id, 'ready' as place from holdfast.ready as r
    union all
    select w.job_id, 'waiting' from holdfast.waiting as w
    union all
    select l.job_id, 'lease' from holdfast.lease as l
    union all
    select o.job_id, 'outcome' from holdfast.outcome as o
  )
  select j.id, 'is in no place'
    from holdfast.job as j
   where not exists (select from places as p where p.job_id = j.id)
  union all
  select p.job_id, 'is in ' || string_agg(p.place, ' and ')
    from places as p
   group by p.job_id
  having count(*) > 1
  union all
  select p.job_id, 'is in ' || p.place || ' but was never asked for'
    from places as p
   where p.place <> 'outcome'
     and not exists (select from holdfast.job as j where j.id = p.job_id)
  union all
  select l.job_id, 'runs with key ' || l.key || ' whose row says otherwise'
    from holdfast.lease as l
    left join holdfast.job_key as k on k.key = l.key
   where l.key is not null
     and (k.holder, k.token) is distinct from (l.job_id, l.token)
  union all
  select k.holder, 'holds key ' || k.key || ' but does not run'
    from holdfast.job_key as k
   where k.holder is not null
     and not exists (select from holdfast.lease as l where l.job_id = k.holder and l.key = k.key)
  union all
  select r.job_id, 'is parked behind nobody'
    from holdfast.ready as r
    left join holdfast.job_key as k on k.key = r.key
   where r.parked
     and k.holder is null
     and not exists (select from holdfast.ready as o where o.key = r.key and not o.parked)
  union all
  select w.job_id, 'waits for ' || w.open || ' jobs, but ' || coalesce(d.open, 0) || ' are open'
    from holdfast.waiting as w
    left join (
      select e.job_id, count(*) as open
        from holdfast.dependency as e
       where not exists (select from holdfast.outcome as o where o.job_id = e.depends_on)
       group by e.job_id
    ) as d on d.job_id = w.job_id
   where w.open <> coalesce(d.open, 0)
$$;

create or replace function holdfast.check_places()
  returns table (job_id bigint, problem text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.check_places_v1() $$;
