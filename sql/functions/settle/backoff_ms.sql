-- backoff_ms: how long a failed job waits before its next attempt
--   Guard   none.
--   Locks   none.
--   Returns milliseconds: base doubled per attempt, at most max, of which the upper half is left to chance (0 to 1).
--   Notifies nothing.
-- The same formula as src/domain/job/backoff.ts, rounded as JavaScript does: as a numeric it would lose digits first.
create or replace function holdfast.backoff_ms(p_base_ms bigint, p_max_ms bigint, p_attempt integer, p_chance double precision)
  returns bigint
  language sql immutable parallel safe
as $$
  select floor(
    least(p_max_ms::double precision, p_base_ms::double precision * power(2::double precision, least(p_attempt - 1, 60)))
    * (0.5 + 0.5 * p_chance) + 0.5
  )::bigint
$$;
