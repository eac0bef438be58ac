-- suspend_leases: running → pending until a wait of the handler is over; the attempt is given back
--   Guard   the caller holds the leases of p_places.
--   Locks   the advisory locks of the events, shared and only tried.
--   Returns nothing. A job is due when the first of its waits is over: at once if its event is there. It does not wait for an
--           emit that has not committed: then the job is due within 200 ms.
--   Notifies workers that would sleep past the new run_at.
--   Tested by  test/sql/settle/suspend_jobs.test.ts
-- A wait that is known keeps its first end.
create or replace function holdfast.suspend_leases(p_settlements jsonb, p_places integer[])
  returns void
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_waits jsonb;
  v_free text[];  -- events without an emit that has not committed
  v_ids bigint[];
  v_run_ats timestamptz[];
begin
  select jsonb_agg(w.wait || jsonb_build_object('job_id', m.member -> 'job_id', 'token', m.member -> 'token'))
    into v_waits
    from unnest(p_places) as p(place)
   cross join lateral (select p_settlements -> (p.place - 1) as member) as m
   cross join lateral jsonb_array_elements(m.member -> 'waits') as w(wait)
   where m.member ->> 'outcome' = 'suspend';
  if v_waits is null then
    return;
  end if;
  v_free := array(
    select e.event
      from (
        select distinct w.event
          from jsonb_to_recordset(v_waits) as w(event text)
         where w.event is not null
         limit 200  -- each takes a slot of the server's lock table; jobs of the others are due soon
      ) as e
     where pg_try_advisory_xact_lock_shared(holdfast.event_lock_id(e.event))
  );

  -- Under the locks: this statement sees every earlier emit, and every later emit sees this row.
  insert into holdfast.durable_step as s (job_id, kind, name, token, at, wake_at, event, is_open, output)
  select w.job_id, w.kind, w.name, w.token, v_now, v_now + make_interval(secs => 0.001 * w.delay_ms), w.event,
         w.kind = 'event' and e.payload is null, e.payload
    from jsonb_to_recordset(v_waits)
      as w(job_id bigint, token bigint, kind text, name text, event text, delay_ms double precision)
    left join lateral (select e.payload from holdfast.event as e where e.name = w.event limit 1) as e on true
   where w.event is null or w.event = any (v_free)
  on conflict on constraint durable_step_pkey do update
     set token = excluded.token,
         is_open = s.is_open and excluded.output is null,
         output = coalesce(s.output, case when s.is_open then excluded.output end);
  -- An emit may have locked the wait's row: insert it where it is missing, and do not wait for the lock.
  insert into holdfast.durable_step (job_id, kind, name, token, at, wake_at, event, is_open)
  select w.job_id, w.kind, w.name, w.token, v_now, v_now + make_interval(secs => 0.001 * w.delay_ms), w.event, true
    from jsonb_to_recordset(v_waits)
      as w(job_id bigint, token bigint, kind text, name text, event text, delay_ms double precision)
   where w.kind = 'event' and w.event <> all (v_free)
  on conflict on constraint durable_step_pkey do nothing;

  select array_agg(d.job_id), array_agg(d.run_at)
    into v_ids, v_run_ats
    from (
      select w.job_id, min(case
               when s.kind = 'event' and not s.is_open then v_now
               when s.kind = 'event' and w.event <> all (v_free) then least(s.wake_at, v_now + interval '200 milliseconds')
               else greatest(s.wake_at, v_now)
             end) as run_at
        from jsonb_to_recordset(v_waits) as w(job_id bigint, kind text, name text, event text)
       cross join lateral (
         select * from holdfast.durable_step as b where b.job_id = w.job_id and b.kind = w.kind and b.name = w.name limit 1
       ) as s
       group by w.job_id
    ) as d;
  perform holdfast.return_leases(v_ids, v_run_ats, 1);
end
$$;
