-- Whoever claims may name the lease id, and so give back (release_claims) what it never heard of. Older programs name none and go
-- on. Functions come with every migrate; the forms without a lease id would stand beside those with one, and go.
-- oldest-program: 12
drop function if exists
  holdfast.claim_batch_v1(text, text, text[], integer, integer, timestamptz, bigint),
  holdfast.claim_by_id_v1(bigint, text, text[]),
  holdfast.claim_suspect_v1(text, text[], text[]),
  holdfast.enqueue_held_v1(jsonb, jsonb, text, text),
  holdfast.enqueue_one_held_v1(text, jsonb, text, smallint, smallint, text),
  holdfast.place_inputs(jsonb, jsonb, text, text, text);
