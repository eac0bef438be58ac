-- put_schedules: stores the schedules that code defines
--   Guard   settings that an operator has changed stay; the definition in code is stored beside them.
--   Locks   schedule rows in order of their key.
--   Returns the keys whose stored settings differ from code because an operator set them.
--   Notifies nothing.
-- Members: job_key, type, cron or every_ms, and the other settings of create_schedule. A row that was made at run time before
-- code knew its key counts as set by an operator.
create or replace function holdfast.put_schedules_v1(p_schedules jsonb) returns setof text
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_new holdfast.schedule;
  v_old holdfast.schedule;
  v_code jsonb;
begin
  if jsonb_typeof(p_schedules) is distinct from 'array' then
    perform holdfast.refuse('INVALID_OPTION', 'schedules must be a JSON array of objects');
  end if;
  for v_new in
    select r.* from jsonb_array_elements(p_schedules) as m(member), holdfast.read_schedule(m.member) as r order by r.job_key
  loop
    v_code := holdfast.schedule_settings(v_new);
    v_new.code := v_code;
    insert into holdfast.schedule select v_new.* on conflict (job_key) do nothing;
    continue when found;

    select s.* into v_old from holdfast.schedule as s where s.job_key = v_new.job_key for update;
    if v_old.code is distinct from v_code then
      v_old.is_edited := (v_old.is_edited or v_old.code is null) and holdfast.schedule_settings(v_old) <> v_code;
      if not v_old.is_edited then
        perform holdfast.write_schedule(v_new);
      end if;
      update holdfast.schedule as s set code = v_code, is_edited = v_old.is_edited where s.job_key = v_new.job_key;
    end if;
    if v_old.is_edited then
      return next v_new.job_key;
    end if;
  end loop;
end
$$;
