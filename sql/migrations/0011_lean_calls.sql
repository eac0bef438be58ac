-- A single step is completed by a call of its own (complete_step): a program that does so needs a database that has been
-- migrated since. What it takes the place of goes.
-- oldest-program: 8
drop function if exists
  holdfast.complete_link(jsonb, text, text[], integer[], text[]),
  holdfast.claim_link(bigint, bigint, text, timestamptz, integer);
