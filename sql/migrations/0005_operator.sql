-- What operators look at and ask for: lists of finished jobs, figures by the minute, bulk operations.
-- oldest-program: 1

-- Which jobs are meant, with every span of time turned into a moment. Null parts do not matter.
create type holdfast.job_filter as (
  states text[],
  types text[],
  queues text[],
  ids bigint[],
  key text,
  pipeline_id uuid,
  tags text[],
  worker text,
  error text,
  since timestamptz,
  until timestamptz,
  input jsonb  -- [{"path": ["a", "b"], "value": "text"}]
);

-- Finished jobs of a state, newest first, day by day. It also finds by time, which the old index was for.
create index outcome_list on holdfast.outcome (state, finished_at, job_id);
drop index holdfast.outcome_finished;

-- A pipeline of any size is listed in order.
drop index holdfast.job_pipeline;
create index job_pipeline on holdfast.job (pipeline_id, id) where pipeline_id is not null;

create index ready_parked on holdfast.ready (queue) where parked;
create index attempt_ended on holdfast.attempt (ended_at);

-- How many jobs of a queue and type ended in a minute, and how long they took; from a day on, in an hour.
create table holdfast.stats_minute (
  minute timestamptz not null,
  queue text not null,
  type text not null,
  fact text not null,
  n bigint not null,
  wait_ms bigint not null,          -- of those that were claimed; the others have no wait and no run
  run_ms bigint not null,
  wait_buckets bigint[] not null,   -- beside the bounds of stats_buckets
  run_buckets bigint[] not null,
  constraint stats_minute_pkey primary key (minute, queue, type, fact),
  constraint fact_is_known
    check (fact in ('completed', 'failed', 'cancelled', 'superseded', 'attempt_failed', 'attempt_lost'))
) with (fillfactor = 70);

-- Up to where the figures are complete. The row moves in the transaction that counts.
create table holdfast.stats_mark (
  one boolean primary key default true check (one),
  counted_to timestamptz not null,
  folded_to timestamptz not null,   -- before it, rows of stats_minute stand for an hour
  probe_at timestamptz,             -- once every transaction below probe_xid is over, all that ended before is visible
  probe_xid xid8
);

-- A deed on all jobs of a filter, worked off in small steps.
create table holdfast.bulk_operation (
  id bigint generated always as identity primary key,
  deed text not null,
  filter jsonb not null,
  reason text,
  asked_by text not null,
  asked_at timestamptz not null,
  state text not null default 'open',
  expected bigint not null,
  expected_is_capped boolean not null,
  done bigint not null default 0,
  skipped bigint not null default 0,
  failed bigint not null default 0,
  error jsonb,
  position text,                    -- how far the walk through the jobs has come
  finished_at timestamptz,
  constraint deed_is_known check (deed in ('retry', 'cancel')),
  constraint bulk_state_is_known check (state in ('open', 'completed', 'cancelled')),
  constraint finished_has_time check ((state = 'open') = (finished_at is null))
);
create index bulk_operation_open on holdfast.bulk_operation (id) where state = 'open';
