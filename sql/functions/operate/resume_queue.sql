-- resume_queue: jobs of the queue are claimed again
--   Guard   none.
--   Locks   the queue row.
--   Returns true when it was paused.
--   Notifies workers, when the caller's transaction commits.
create or replace function holdfast.resume_queue_v1(p_queue text, p_actor text default null)
  returns boolean
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  update holdfast.queue as q
     set paused_at = null, paused_by = null
   where q.name = p_queue
     and q.paused_at is not null;
  if not found then
    return false;
  end if;
  perform holdfast.audit_operation(p_actor, 'resume', null, jsonb_build_object('queue', p_queue));
  perform holdfast.wake_workers(array[p_queue], holdfast.now(), 'always');
  return true;
end
$$;

create or replace function holdfast.resume_queue(queue text, actor text default null)
  returns boolean
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
  select holdfast.resume_queue_v1(queue, actor)
$$;
