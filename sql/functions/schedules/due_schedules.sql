-- due_schedules: the schedules that need a worker now, and the next one that will
--   Guard   only what this worker can serve: a schedule whose input code computes needs its definition (p_known).
--   Locks   none; claim and plan check again.
--   Returns up to 100 enabled rows whose next tick is due or not planned yet, then the first one that will be due.
--   Notifies nothing.
create or replace function holdfast.due_schedules_v1(p_known text[]) returns setof holdfast.schedule
  language sql stable security definer set search_path = pg_catalog, pg_temp
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

-- Every enabled schedule that will tick, with the moment from which it needs a worker: at once if it is not planned yet.
create or replace function holdfast.served_schedules(p_known text[])
  returns table (schedule holdfast.schedule, due_at timestamptz)
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  -- A fault holds the schedule back until its lock is over, planned or not.
  select s,
         greatest(coalesce(s.next_tick, s.counts_from),
                  case when s.next_tick is not null or s.fault is not null then s.locked_until end)
    from holdfast.schedule as s
   where s.enabled
     and (not s.input_from_code or s.job_key = any (p_known))
     and s.next_tick is distinct from 'infinity'
$$;
