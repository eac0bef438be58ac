-- pause_queue: no job of the queue is claimed any more; what runs goes on
--   Guard   none; pausing a paused queue keeps the first time.
--   Locks   the queue row.
--   Returns true when it was not paused before.
--   Notifies nothing.
create or replace function holdfast.pause_queue_v1(p_queue text, p_actor text default null)
  returns boolean
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  insert into holdfast.queue (name, paused_at, paused_by)
  values (p_queue, holdfast.now(), coalesce(p_actor, session_user))
  on conflict (name) do update
     set paused_at = excluded.paused_at, paused_by = excluded.paused_by
   where queue.paused_at is null;
  if not found then
    return false;
  end if;
  perform holdfast.audit_operation(p_actor, 'pause', null, jsonb_build_object('queue', p_queue));
  return true;
end
$$;

create or replace function holdfast.pause_queue(queue text, actor text default null)
  returns boolean
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select holdfast.pause_queue_v1(queue, actor)
$$;
