-- A claim may pass by the long backlog of a held key (claim_batch), and parks all of it that it meets (park_backlog). Older programs
-- go on. Functions come with every migrate; the forms with fewer parameters would stand beside those with more, and go.
-- oldest-program: 16
drop function if exists
  holdfast.claim_batch_v1(text, text, text[], integer, integer, timestamptz, bigint, uuid),
  holdfast.claim_ids(text, text, text[], integer, integer, timestamptz, bigint, uuid, jsonb),
  holdfast.park_backlog(text[], integer, timestamptz),
  holdfast.pass_claims(text, text[], integer, timestamptz, bigint, timestamptz, integer);
