-- create_schedule: a schedule that no code defines
--   Guard   the settings are checked; the key is free.
--   Locks   the new row.
--   Returns nothing; raises INVALID_OPTION. A worker plans its first tick within a second or so.
--   Notifies nothing.
-- Settings: job_key, type, and cron or every_ms; then timezone, input, options, missed, window_ms, overlap, gap, twice,
-- jitter_ms, starts_at, ends_at.
create or replace function holdfast.create_schedule_v1(p_settings jsonb, p_actor text default null) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_new holdfast.schedule := holdfast.read_schedule(p_settings);
begin
  if v_new.input_from_code then
    perform holdfast.refuse('INVALID_OPTION', 'only a schedule of code can have its input computed by code');
  end if;
  insert into holdfast.schedule select v_new.* on conflict (job_key) do nothing;
  if not found then
    perform holdfast.refuse('INVALID_OPTION', format('there is a schedule "%s" already', v_new.job_key),
      jsonb_build_object('job_key', v_new.job_key));
  end if;
  perform holdfast.audit_operation(p_actor, 'create_schedule', null, holdfast.schedule_settings(v_new));
end
$$;

create or replace function holdfast.create_schedule(settings jsonb, actor text default null) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.create_schedule_v1(settings, actor) $$;
