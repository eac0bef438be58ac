-- pause_queue: jobs of the queue are no longer claimed; resume_queue: they are claimed again
--   Guard   none; pausing a paused queue keeps the first time. Running jobs go on.
--   Locks   the queue row.
--   Returns true when the queue was not paused before, or for resume_queue when it was.
--   Notifies workers of a resumed queue, when the caller's transaction commits.
create or replace function holdfast.pause_queue_v1(p_queue text, p_actor text default null) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into holdfast.queue (name, paused_at, paused_by)
  values (p_queue, holdfast.now(), coalesce(p_actor, session_user))
  on conflict (name) do update
     set paused_at = excluded.paused_at, paused_by = excluded.paused_by
   where queue.paused_at is null;
  if found then
    perform holdfast.audit_operation(p_actor, 'pause', null, jsonb_build_object('queue', p_queue));
    return true;
  end if;
  return false;
end
$$;

create or replace function holdfast.resume_queue_v1(p_queue text, p_actor text default null) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update holdfast.queue as q
     set paused_at = null, paused_by = null
   where q.name = p_queue
     and q.paused_at is not null;
  if found then
    perform holdfast.audit_operation(p_actor, 'resume', null, jsonb_build_object('queue', p_queue));
    perform holdfast.wake_workers(array[p_queue], holdfast.now(), 'always');
    return true;
  end if;
  return false;
end
$$;

create or replace function holdfast.pause_queue(queue text, actor text default null) returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.pause_queue_v1(queue, actor) $$;

create or replace function holdfast.resume_queue(queue text, actor text default null) returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.resume_queue_v1(queue, actor) $$;
