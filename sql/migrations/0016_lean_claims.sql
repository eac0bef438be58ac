-- Claims tell their ids as one text, which an older program cannot read, and read no lease again whose job is like the others.
-- oldest-program: 16
drop function if exists
  holdfast.claim_ids(text, text, text[], integer, integer, timestamptz, bigint, uuid, jsonb),
  holdfast.claimed_jobs(bigint[], uuid, jsonb);
