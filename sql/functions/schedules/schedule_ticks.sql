-- schedule_ticks: the past ticks of a schedule, newest first
--   Guard   none.
--   Locks   none.
--   Returns up to p_n ticks before p_before: fired with its job, skipped, missed or overlapped.
--   Notifies nothing.
create or replace function holdfast.schedule_ticks_v1(
  p_job_key text,
  p_before timestamptz default 'infinity',
  p_n integer default 100
)
  returns setof holdfast.schedule_tick
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select t.*
    from holdfast.schedule_tick as t
   where t.job_key = p_job_key
     and t.tick < p_before
   order by t.tick desc
   limit least(greatest(p_n, 1), 1000)
$$;

create or replace function holdfast.schedule_ticks(job_key text, before timestamptz default 'infinity', n integer default 100)
  returns setof holdfast.schedule_tick
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.schedule_ticks_v1(job_key, before, n) $$;
