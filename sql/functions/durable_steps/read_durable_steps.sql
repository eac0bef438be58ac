-- read_durable_steps: the durable steps of a job, its sleeps and the events that it waits for
--   Guard   none.
--   Locks   none.
--   Returns them in the order in which they were written. is_over: the step has its output, the sleep has passed, or the event
--           has come or timed out (then without output).
--   Notifies nothing.
create or replace function holdfast.read_durable_steps_v1(p_job_id bigint)
  returns table (
    kind text, name text, output jsonb, is_over boolean, event text, wake_at timestamptz, token bigint, at timestamptz
  )
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select s.kind, s.name, s.output,
         case s.kind when 'step' then true when 'sleep' then s.wake_at <= holdfast.now() else not s.is_open end,
         s.event, s.wake_at, s.token, s.at
    from holdfast.durable_step as s
   where s.job_id = p_job_id
   order by s.at, s.kind, s.name
$$;

create or replace function holdfast.read_durable_steps(job_id bigint)
  returns table (
    kind text, name text, output jsonb, is_over boolean, event text, wake_at timestamptz, token bigint, at timestamptz
  )
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.read_durable_steps_v1(job_id) $$;
