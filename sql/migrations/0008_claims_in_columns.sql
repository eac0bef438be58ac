-- Claims answer in columns: what they answered before is another type of result, which cannot be replaced in place.
-- oldest-program: 8
drop function if exists
  holdfast.claim_jobs_v1(text, text[], text[], integer, integer, timestamptz, bigint),
  holdfast.claim_jobs(text, text[], text[], integer, integer, timestamptz, bigint),
  holdfast.claim_one_v1(bigint, text, text[]),
  holdfast.claim_suspect_v1(text, text[], text[]),
  holdfast.claim_unkeyed(tid[], text, uuid, timestamptz, jsonb),
  holdfast.claim_keyed(bigint[], text, text[], text[], uuid, timestamptz, jsonb, bigint);
