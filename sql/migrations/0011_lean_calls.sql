-- Claims tell once what their jobs have in common, and single steps are completed by a call of their own (complete_step): an
-- older program cannot read the former, and knows what goes here.
-- oldest-program: 11
drop function if exists
  holdfast.complete_link(jsonb, text, text[], integer[], text[]),
  holdfast.claim_link(bigint, bigint, text, timestamptz, integer);
