-- pin_job_type: an operator's word on a type, kept against what code says
--   Guard   the type is known; only known settings are taken.
--   Locks   the job_type row.
--   Gives   nothing; raises INVALID_OPTION. Null settings give the type back to code, which rewrites it at its next start.
--   Tells   nothing.
create or replace function holdfast.pin_job_type_v1(p_type text, p_settings jsonb, p_actor text default null)
  returns void
  language plpgsql volatile security definer
  set search_path = ''
as $$
declare
  v_unknown constant text := (
    select min(s.name)
      from jsonb_object_keys(coalesce(p_settings, '{}')) as s(name)
     where s.name <> all (array['queue', 'priority', 'max_attempts', 'lease_seconds', 'backoff_base_ms', 'backoff_max_ms'])
  );
begin
  if v_unknown is not null then
    perform holdfast.refuse('INVALID_OPTION', format('a type has no setting "%s"', left(v_unknown, 100)));
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
   where y.type = p_type;
  if not found then
    perform holdfast.refuse('INVALID_OPTION', format('no worker has registered the type "%s"', left(p_type, 100)));
  end if;
  perform holdfast.audit_deed(p_actor, 'pin_job_type', null, jsonb_build_object('type', p_type, 'settings', p_settings));
end
$$;

create or replace function holdfast.pin_job_type(type text, settings jsonb, actor text default null)
  returns void
  language sql volatile security definer
  set search_path = ''
as $$
  select holdfast.pin_job_type_v1(type, settings, actor)
$$;
