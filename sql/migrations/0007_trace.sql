-- Where a job comes from, so that its run can be seen beside what asked for it.
-- oldest-program: 1
alter table holdfast.job
  add column trace text;  -- a W3C traceparent

drop function if exists holdfast.read_members(jsonb, jsonb, timestamptz);  -- it gives the trace too from now on
