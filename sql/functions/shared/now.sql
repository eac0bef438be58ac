-- now: the only clock
--   Guard   none.
--   Locks   none.
--   Returns the wall clock, or the session's setting holdfast.fake_now where a test has set it.
--   Notifies nothing.
-- clock_timestamp() and not the transaction's start: in a long transaction an expired lease would look alive.
create or replace function holdfast.now() returns timestamptz
  language sql volatile parallel safe
as $$ select coalesce(nullif(current_setting('holdfast.fake_now', true), '')::timestamptz, clock_timestamp()) $$;
