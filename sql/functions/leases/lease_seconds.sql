-- lease_seconds: how long a claim of a type holds
--   Guard   none.
--   Locks   none.
--   Returns the seconds of job_type, 30 for a type that nobody has described.
--   Notifies nothing.
-- The one mapping: claims ask for all their types at once, people and the hand-over of a step ask for one.
create or replace function holdfast.lease_seconds_by_type(p_types text[])
  returns jsonb
  language plpgsql stable  -- a body in SQL would be planned anew at every call
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
as $$
  select holdfast.lease_seconds_v1(p_type)
$$;
