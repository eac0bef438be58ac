-- event_lock_id: the number of an event's advisory lock
--   Guard   none.
--   Locks   none.
--   Returns a number that no other use of advisory locks here has, unless a hash collides.
--   Notifies nothing.
--   Tested by  test/sql/durable_steps/emit_event.test.ts
-- Who emits holds it alone until the transaction ends; who begins to wait shares it. So neither can miss the other.
create or replace function holdfast.event_lock_id(p_event text)
  returns bigint
  language sql immutable parallel safe
as $$
  select hashtextextended('holdfast.event:' || p_event, 7245907)
$$;
