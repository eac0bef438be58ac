-- emit_event: stores an event with its payload, once; the jobs that wait for it → due
--   Guard   the first payload of an event stays; READ COMMITTED, since the function must read what others wrote before it got the
--           lock.
--   Locks   the event's advisory lock, until the caller commits: waits for other emits of it and for jobs that begin to
--           wait for it. Then the waits, and the jobs' ready rows by id.
--   Returns is_first, the payload that is stored and how many jobs it woke. Raises INVALID_OPTION, INVALID_INPUT or
--           WRONG_ISOLATION.
--   Notifies workers, when the caller's transaction commits.
-- event_lock_id: the number of an event's advisory lock. An emit locks it exclusively, a job that begins to wait shares it. So
-- neither can miss the other.
create or replace function holdfast.emit_event_v1(p_event text, p_payload jsonb default 'null')
  returns table (is_first boolean, payload jsonb, woken integer)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_problem constant text := holdfast.input_problem(p_payload);
  v_ids bigint[];
  v_queues text[];
begin
  perform holdfast.check_label('event', p_event);
  if v_problem is not null then
    perform holdfast.refuse('INVALID_INPUT', format('the payload of event %s %s', p_event, v_problem),
      jsonb_build_object('event', p_event));
  elsif current_setting('transaction_isolation') <> 'read committed' then
    perform holdfast.refuse('WRONG_ISOLATION', 'an event needs a READ COMMITTED transaction',
      jsonb_build_object('received', current_setting('transaction_isolation')));
  end if;

  perform pg_advisory_xact_lock(holdfast.event_lock_id(p_event));
  insert into holdfast.event (name, payload, at) values (p_event, p_payload, v_now) on conflict (name) do nothing;
  if not found then
    return query select false, e.payload, 0 from holdfast.event as e where e.name = p_event;
    return;
  end if;

  with ended as (
    update holdfast.durable_step as s
       set is_open = false, output = p_payload
     where s.event = p_event
       and s.is_open
    returning s.job_id, s.token
  ),
  -- A job that was claimed since then has another token: its handler finds the event when it polls.
  waiting as (
    select r.job_id
      from ended as e
     cross join lateral (
       select b.job_id from holdfast.ready as b where b.job_id = e.job_id and b.token = e.token limit 1
     ) as r
  )
  select array_agg(w.job_id), count(*) into v_ids, woken from waiting as w;
  if v_ids is not null then
    perform from holdfast.ready as r where r.job_id = any (v_ids) order by r.job_id for update;
    with due as (
      update holdfast.ready as r set run_at = least(r.run_at, v_now) where r.job_id = any (v_ids) returning r.queue
    )
    select array_agg(distinct d.queue) into v_queues from due as d;
    perform holdfast.wake_workers(v_queues, v_now, 'always');
  end if;
  is_first := true;
  payload := p_payload;
  return next;
end
$$;

create or replace function holdfast.event_lock_id(p_event text)
  returns bigint
  language sql immutable parallel safe
as $$
  select hashtextextended('holdfast.event:' || p_event, 7245907)
$$;

create or replace function holdfast.emit_event(event text, given jsonb default 'null')
  returns table (is_first boolean, payload jsonb, woken integer)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.emit_event_v1(event, given) $$;
