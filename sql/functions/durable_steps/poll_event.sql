-- poll_event: running → running; a handler asks whether its event has come, or its timeout has passed
--   Guard   the caller holds the job's lease (job id, token, lease id).
--   Locks   the lease row, then the wait, skip locked: it does not wait for an emit that has not committed.
--   Returns the payload, or null after the timeout; no row while the job must wait for the event (suspend_jobs). Every later call
--           gets the same answer, even if the event comes after the timeout. Raises LEASE_LOST or INVALID_OPTION.
--   Notifies nothing.
create or replace function holdfast.poll_event_v1(p_job_id bigint, p_token bigint, p_lease_id uuid, p_name text, p_event text)
  returns table (payload jsonb)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
begin
  perform holdfast.check_label('wait', p_name);
  perform holdfast.check_label('event', p_event);
  perform from holdfast.lease as l where l.job_id = p_job_id and l.token = p_token and l.lease_id = p_lease_id for update;
  if not found then
    perform holdfast.refuse('LEASE_LOST', format('the lease on job %s is lost', p_job_id),
      jsonb_build_object('job_id', p_job_id, 'token', p_token));
  end if;

  insert into holdfast.durable_step (job_id, kind, name, token, at, wake_at, event, output)
  select p_job_id, 'event', p_name, p_token, v_now, v_now, e.name, e.payload
    from holdfast.event as e
   where e.name = p_event
  on conflict (job_id, kind, name) do nothing;

  perform
     from holdfast.durable_step as s
    where s.job_id = p_job_id and s.kind = 'event' and s.name = p_name and s.is_open
      for update skip locked;
  if found then
    update holdfast.durable_step as s
       set is_open = false,
           output = (select e.payload from holdfast.event as e where e.name = s.event)
     where s.job_id = p_job_id and s.kind = 'event' and s.name = p_name
       and (s.wake_at <= v_now or exists (select from holdfast.event as e where e.name = s.event));
  end if;

  return query
    select s.output
      from holdfast.durable_step as s
     where s.job_id = p_job_id and s.kind = 'event' and s.name = p_name and not s.is_open;
end
$$;

create or replace function holdfast.poll_event(job_id bigint, token bigint, lease_id uuid, name text, event text)
  returns table (payload jsonb)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.poll_event_v1(job_id, token, lease_id, name, event) $$;
