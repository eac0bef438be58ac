-- enqueue: none → pending
--   Guard   as enqueue_jobs.
--   Locks   as enqueue_jobs.
--   Returns the job's id.
--   Notifies workers, when the caller's transaction commits.
-- For psql, triggers and other languages: select holdfast.enqueue('mail', '{"to": "a@example.org"}', '{"delay": "5m"}').
create or replace function holdfast.enqueue_v1(type text, input jsonb default '{}', options jsonb default '{}') returns bigint
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if options ?| array['type', 'input'] then
    perform holdfast.refuse('INVALID_OPTION', 'type and input are parameters of their own, not options', options - 'input');
  elsif options is null or jsonb_typeof(options) <> 'object' then
    perform holdfast.refuse('INVALID_OPTION', 'options must be a JSON object', jsonb_build_object('received', options));
  end if;
  return (
    select e.id
      from holdfast.enqueue_jobs_v1(
        jsonb_build_array(jsonb_build_object('type', enqueue_v1.type, 'input', enqueue_v1.input)), options
      ) as e(id)
  );
end
$$;

create or replace function holdfast.enqueue(type text, input jsonb default '{}', options jsonb default '{}') returns bigint
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.enqueue_v1(type, input, options) $$;
