-- delay_interval: a delay as an interval
--   Guard   none; option_problem has checked it.
--   Locks   none.
--   Returns milliseconds for a number, the interval that a text spells; null for none.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_jobs.test.ts
create or replace function holdfast.delay_interval(p_delay jsonb)
  returns interval
  language sql immutable parallel safe
as $$
  select case jsonb_typeof(p_delay)
    when 'number' then make_interval(secs => (p_delay #>> '{}')::double precision / 1000)
    else (p_delay #>> '{}')::interval
  end
$$;
