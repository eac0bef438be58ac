-- due_schedules: the schedules that need a worker now, and the one that will next
--   Guard   only what this worker can serve: a schedule whose input code computes needs its definition (p_known).
--   Locks   none; claim and plan decide.
--   Returns up to 100 enabled rows whose next tick is due or not planned yet, then the first one that will be due.
--   Notifies nothing.
create or replace function holdfast.due_schedules_v1(p_known text[])
  returns setof holdfast.schedule
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  with served as materialized (
    select v.schedule, v.due_at from holdfast.served_schedules(p_known) as v
  ),
  clock as materialized (
    select holdfast.now() as at
  )
  (select (v.schedule).* from served as v, clock as c where v.due_at <= c.at order by v.due_at limit 100)
  union all
  (select (v.schedule).* from served as v, clock as c where v.due_at > c.at order by v.due_at limit 1)
$$;
