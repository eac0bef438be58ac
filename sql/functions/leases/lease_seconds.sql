-- lease_seconds: how long the lease of a type's jobs lasts
--   Guard   none.
--   Locks   none.
--   Returns the seconds of job_type, 30 for a type that has no row there; lease_seconds_by_type for many types at once.
--   Notifies nothing.
create or replace function holdfast.lease_seconds_by_type(p_types text[])
  returns jsonb
  language plpgsql stable  -- PostgreSQL plans a body in SQL again at every call
  set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_object_agg(t.type, coalesce(y.lease_seconds, 30)), '{}')
      from unnest(p_types) as t(type)
      left join holdfast.job_type as y on y.type = t.type
     where t.type is not null
  );
end
$$;

create or replace function holdfast.lease_seconds_v1(p_type text)
  returns integer
  language plpgsql stable strict security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce((select y.lease_seconds from holdfast.job_type as y where y.type = p_type), 30);
end
$$;

create or replace function holdfast.lease_seconds(p_type text)
  returns integer
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$ select holdfast.lease_seconds_v1(p_type) $$;
