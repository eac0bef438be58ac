-- pin_job_type: changes the settings of a type by an operator, which win over those in code
--   Guard   the type is known; only known settings are taken.
--   Locks   the job_type row.
--   Returns nothing; raises INVALID_OPTION. Null settings give the type back to code, which rewrites it at its next start.
--   Notifies nothing.
create or replace function holdfast.pin_job_type_v1(p_type text, p_settings jsonb, p_actor text default null) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_bad record;
begin
  if p_settings is not null and jsonb_typeof(p_settings) <> 'object' then
    perform holdfast.refuse('INVALID_OPTION', 'settings must be a JSON object or NULL');
  end if;
  select s.name, s.value
    into v_bad
    from jsonb_each(p_settings) as s(name, value)
   where case s.name
           when 'queue' then jsonb_typeof(s.value) = 'string' and s.value #>> '{}' ~ '^[^[:cntrl:]]{1,100}$'
           when 'priority' then s.value #>> '{}' ~ '^[0-9]$'
           when 'max_attempts' then s.value #>> '{}' ~ '^(1000|[1-9]\d{0,2})$'
           when 'lease_seconds' then s.value #>> '{}' ~ '^[1-9]\d{0,4}$' and (s.value #>> '{}')::integer <= 86400
           when 'backoff_base_ms' then s.value #>> '{}' ~ '^\d{1,12}$'
           when 'backoff_max_ms' then s.value #>> '{}' ~ '^\d{1,12}$'
         end is not true
   limit 1;
  if found then
    perform holdfast.refuse('INVALID_OPTION', format('a type cannot have the setting "%s" of %s', left(v_bad.name, 100),
      left(v_bad.value::text, 100)));
  end if;
  update holdfast.job_type as y
     set queue = coalesce(p_settings ->> 'queue', y.queue),
         priority = coalesce((p_settings ->> 'priority')::smallint, y.priority),
         max_attempts = coalesce((p_settings ->> 'max_attempts')::smallint, y.max_attempts),
         lease_seconds = coalesce((p_settings ->> 'lease_seconds')::integer, y.lease_seconds),
         backoff_base_ms = coalesce((p_settings ->> 'backoff_base_ms')::bigint, y.backoff_base_ms),
         backoff_max_ms = coalesce((p_settings ->> 'backoff_max_ms')::bigint, y.backoff_max_ms),
         pinned = p_settings is not null,
         updated_at = holdfast.now()
   where y.type = p_type
     and coalesce((p_settings ->> 'backoff_base_ms')::bigint, y.backoff_base_ms)
         <= coalesce((p_settings ->> 'backoff_max_ms')::bigint, y.backoff_max_ms);
  if not found and exists (select from holdfast.job_type as y where y.type = p_type) then
    perform holdfast.refuse('INVALID_OPTION', 'backoff_base_ms cannot be more than backoff_max_ms', p_settings);
  elsif not found then
    perform holdfast.refuse('INVALID_OPTION', format('no worker has registered the type "%s"', left(p_type, 100)));
  end if;
  perform holdfast.audit_operation(p_actor, 'pin_job_type', null, jsonb_build_object('type', p_type, 'settings', p_settings));
end
$$;

create or replace function holdfast.pin_job_type(type text, settings jsonb, actor text default null) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.pin_job_type_v1(type, settings, actor) $$;
