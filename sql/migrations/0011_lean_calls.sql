-- Claims tell once what their jobs have in common, which an older program cannot read; single steps (complete_step) and single
-- jobs for the own worker (enqueue_one_held) have calls of their own. What the former take the place of goes.
-- oldest-program: 11
drop function if exists
  holdfast.complete_link(jsonb, text, text[], integer[], text[]),
  holdfast.claim_link(bigint, bigint, text, timestamptz, integer);
