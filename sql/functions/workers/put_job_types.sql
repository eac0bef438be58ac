-- put_job_types: stores the settings of types that code defines
--   Guard   a row that an operator has pinned stays.
--   Locks   job_type rows in order of their name.
--   Returns the types whose stored row differs from code because an operator pinned it.
--   Notifies nothing.
-- Members: type, queue, priority, max_attempts, lease_seconds, backoff_base_ms, backoff_max_ms.
create or replace function holdfast.put_job_types_v1(p_types jsonb) returns setof text
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into holdfast.job_type
    (type, queue, priority, max_attempts, lease_seconds, backoff_base_ms, backoff_max_ms, updated_at)
  select w.type, w.queue, w.priority, w.max_attempts, w.lease_seconds, w.backoff_base_ms, w.backoff_max_ms, holdfast.now()
    from jsonb_populate_recordset(null::holdfast.job_type, p_types) as w
   order by w.type
  on conflict (type) do update
     set queue = excluded.queue, priority = excluded.priority, max_attempts = excluded.max_attempts,
         lease_seconds = excluded.lease_seconds, backoff_base_ms = excluded.backoff_base_ms,
         backoff_max_ms = excluded.backoff_max_ms, updated_at = excluded.updated_at
   where not job_type.pinned
     and (job_type.queue, job_type.priority, job_type.max_attempts, job_type.lease_seconds, job_type.backoff_base_ms,
          job_type.backoff_max_ms)
         is distinct from
         (excluded.queue, excluded.priority, excluded.max_attempts, excluded.lease_seconds, excluded.backoff_base_ms,
          excluded.backoff_max_ms);

  return query
    select y.type
      from jsonb_populate_recordset(null::holdfast.job_type, p_types) as w
      join holdfast.job_type as y on y.type = w.type and y.pinned
     where (y.queue, y.priority, y.max_attempts, y.lease_seconds, y.backoff_base_ms, y.backoff_max_ms)
           is distinct from
           (w.queue, w.priority, w.max_attempts, w.lease_seconds, w.backoff_base_ms, w.backoff_max_ms);
end
$$;

create or replace function holdfast.put_job_types(types jsonb) returns setof text
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.put_job_types_v1(types) $$;
