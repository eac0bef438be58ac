-- plan_schedule: stores when a schedule ticks next
--   Guard   the timing is still the one that was read (version), and no other worker has planned it.
--   Locks   the schedule row, skip locked.
--   Returns true when it is planned by this call; infinity means that it will not tick any more.
--   Notifies nothing.
create or replace function holdfast.plan_schedule_v1(p_job_key text, p_version bigint, p_next_tick timestamptz) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Clients know milliseconds: a finer tick would be one that none of them can name.
  v_next constant timestamptz := date_trunc('milliseconds', p_next_tick);
begin
  perform
     from holdfast.schedule as s
    where s.job_key = p_job_key
      and s.version = p_version
      and s.next_tick is null
      and v_next > s.counts_from
      for update skip locked;
  if not found then
    return false;
  end if;
  update holdfast.schedule as s
     set next_tick = v_next, fault = null,
         locked_until = case when s.locked_until > v_next then v_next else s.locked_until end
   where s.job_key = p_job_key;
  return true;
end
$$;
