-- plan_schedule: a worker says when a schedule ticks next
--   Guard   the timing is still the one that was read (version), and nobody has planned meanwhile.
--   Locks   the schedule row, skip locked.
--   Gives   true when it is planned by this call; infinity means that it will not tick any more.
--   Tells   nothing.
create or replace function holdfast.plan_schedule_v1(p_job_key text, p_version bigint, p_next_tick timestamptz)
  returns boolean
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform
     from holdfast.schedule as s
    where s.job_key = p_job_key
      and s.version = p_version
      and s.next_tick is null
      and p_next_tick > s.counts_from
      for update skip locked;
  if not found then
    return false;
  end if;
  update holdfast.schedule as s
     set next_tick = p_next_tick, fault = null,
         locked_until = case when s.locked_until > p_next_tick then p_next_tick else s.locked_until end
   where s.job_key = p_job_key;
  return true;
end
$$;
