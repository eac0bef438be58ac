-- The places of a job and what stands beside them. A job's state is the one place it is in (job itself is only what was asked).
create schema if not exists holdfast;

create table holdfast.migration (
  revision integer primary key,
  name text not null,
  checksum text not null,  -- of the file that was applied
  applied_at timestamptz not null default clock_timestamp()
);

-- JOBS AND THEIR PLACES

-- What was asked. Written once; only coalescing rewrites it, and only while nobody has claimed it.
create table holdfast.job (
  id bigint generated always as identity primary key,
  type text not null,
  queue text not null,
  priority smallint not null,
  max_attempts smallint not null,
  key text,
  key_policy text,
  pipeline_id uuid,
  tags text[] not null default '{}',
  dedupe_id text,
  input jsonb not null,
  created_at timestamptz not null,
  trace text,  -- a W3C traceparent
  constraint priority_is_0_to_9 check (priority between 0 and 9),
  constraint max_attempts_is_positive check (max_attempts between 1 and 1000),
  constraint key_has_policy check ((key is null) = (key_policy is null)),
  constraint key_policy_is_known check (key_policy in ('exclusive', 'supersede', 'coalesce'))
);
create unique index job_dedupe on holdfast.job (type, dedupe_id) where dedupe_id is not null;
create index job_of_key on holdfast.job (key, id) where key is not null;
-- A pipeline of any size is listed in order.
create index job_pipeline on holdfast.job (pipeline_id, id) where pipeline_id is not null;

-- pending. Narrow, short-lived rows: vacuum early, by count rather than by share of a table that empties and fills. Pages are
-- filled: nearly all updates change what the indexes are made of and leave their page anyway.
create table holdfast.ready (
  job_id bigint not null,
  run_at timestamptz not null,
  token bigint not null default 0,
  rank bigint,                                -- keyed jobs: who is the newest; an operator's retry gets a new one
  priority smallint not null,
  attempts smallint not null default 0,
  max_attempts smallint not null,
  crashes smallint not null default 0,        -- workers that died while it ran; from two on it runs alone
  parked boolean not null default false,      -- waits for its key's holder; out of the claim index
  coalescing boolean not null default false,  -- the one pending row of its key that an enqueue may still merge into
  type text not null,
  queue text not null,
  key text,
  key_policy text,
  linked boolean not null default false,      -- part of a pipeline with a graph: how it ends concerns others
  unparked boolean not null default false,    -- its key was freed for it
  constraint ready_pkey primary key (job_id),
  constraint attempts_are_left check (attempts < max_attempts),
  constraint only_keyed_jobs_park check (key is not null or not (parked or coalescing)),
  constraint keyed_jobs_have_rank check ((key is null) = (rank is null))
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.5,
  autovacuum_analyze_scale_factor = 0.5,
  autovacuum_vacuum_cost_delay = 0,
  fillfactor = 100
);
create index ready_claim on holdfast.ready (queue, priority, run_at, job_id) where not parked and crashes < 2;
create index ready_quarantined on holdfast.ready (queue, priority, run_at, job_id) where not parked and crashes >= 2;
-- An un-parked job stands at its old place, which busy claims have passed: they find it here.
create index ready_unparked on holdfast.ready (queue, priority, run_at, job_id) where unparked;
create index ready_parked on holdfast.ready (queue) where parked;
create index ready_key on holdfast.ready (key, parked, priority, run_at, job_id) where key is not null;
create index ready_newest on holdfast.ready (key, rank) where key_policy in ('supersede', 'coalesce');
create unique index ready_one_coalescing on holdfast.ready (key) where coalescing;

-- waiting. The worker that ends the last open dependency moves the job to ready.
create table holdfast.waiting (
  job_id bigint not null,
  pipeline_id uuid not null,
  open integer not null,  -- dependencies that are not final yet
  token bigint not null default 0,
  type text not null,
  queue text not null,
  constraint waiting_pkey primary key (job_id),
  constraint waits_for_something check (open > 0)
) with (fillfactor = 80);
create index waiting_of_pipeline on holdfast.waiting (pipeline_id, job_id);
create index waiting_of_queue on holdfast.waiting (queue);

-- running. Most jobs leave before anything about them changes: progress and renewals find room enough on a page filled to 90.
create table holdfast.lease (
  job_id bigint not null,
  run_at timestamptz not null,
  token bigint not null,
  rank bigint,
  locked_at timestamptz not null,
  locked_until timestamptz not null,
  lease_id uuid not null,
  priority smallint not null,
  attempts smallint not null,
  max_attempts smallint not null,
  crashes smallint not null default 0,
  progress real,
  type text not null,
  queue text not null,
  locked_by text not null,
  key text,
  key_policy text,
  status_message text,
  linked boolean not null default false,
  constraint lease_pkey primary key (job_id),
  constraint token_is_positive check (token > 0),
  constraint attempt_is_counted check (attempts between 1 and max_attempts),
  constraint progress_is_a_share check (progress between 0 and 1)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.5,
  autovacuum_analyze_scale_factor = 0.5,
  autovacuum_vacuum_cost_delay = 0,
  fillfactor = 90
);
-- An assertion: the key row decides who holds a key; this index must never fire.
create unique index lease_one_per_key on holdfast.lease (key) where key is not null;

-- completed, failed, cancelled, superseded. One partition a day; old days are dropped whole.
create table holdfast.outcome (
  job_id bigint not null,
  token bigint not null,
  run_at timestamptz not null,
  locked_at timestamptz,
  finished_at timestamptz not null,
  lease_id uuid,
  attempts smallint not null,
  state text not null,
  locked_by text,
  output jsonb,
  error jsonb,
  constraint state_is_final check (state in ('completed', 'failed', 'cancelled', 'superseded'))
) partition by range (finished_at);
create index outcome_job on holdfast.outcome (job_id);
-- Nearly all jobs complete: their own index has no state, so that an entry is compared and made by two plain numbers.
create index outcome_completed on holdfast.outcome (finished_at, job_id) where state = 'completed';
create index outcome_unfulfilled on holdfast.outcome (state, finished_at, job_id) where state <> 'completed';
-- Settling must never fail for want of a partition: what no day covers lands here and is moved when its day is made.
create table holdfast.outcome_default partition of holdfast.outcome default;

-- One row per failed or lost attempt, none per success.
create table holdfast.attempt (
  job_id bigint not null,
  token bigint not null,
  attempt smallint not null,
  verdict text not null,
  lease_id uuid not null,
  worker text not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  error jsonb,
  constraint attempt_pkey primary key (job_id, token),
  constraint verdict_is_known check (verdict in ('failed', 'lost'))
);
create index attempt_ended on holdfast.attempt (ended_at);

-- Lines that handlers logged.
create table holdfast.job_log (
  id bigint generated always as identity primary key,
  job_id bigint not null,
  token bigint not null,
  at timestamptz not null,
  level text not null,
  message text not null,
  fields jsonb
);
create index job_log_job on holdfast.job_log (job_id, id);

-- KEYS

-- One row per key: its holder, its fence and its latest started job.
create table holdfast.job_key (
  key text primary key,
  token bigint not null,
  holder bigint,
  current_job bigint,
  current_rank bigint,
  current_since timestamptz
) with (fillfactor = 70);

-- Where a new key's fence starts: above every fence of a key that was pruned.
create table holdfast.key_floor (
  one boolean primary key default true check (one),
  token bigint not null
);
insert into holdfast.key_floor (token) values (0);

-- PIPELINES

-- Jobs that belong together, and what was asked of them as one.
create table holdfast.pipeline (
  id uuid primary key,
  name text not null,
  input jsonb not null,
  on_failure text not null,
  result_job bigint,            -- the step whose output is the pipeline's; null: it has none
  stopped_by bigint,            -- the first step that did not complete, where that ends the rest
  stopped_at timestamptz,
  compensated_at timestamptz,   -- when the jobs that take its completed steps back were made
  created_at timestamptz not null,
  constraint on_failure_is_known check (on_failure in ('stop', 'continue', 'compensate')),
  constraint stopped_has_time check ((stopped_by is null) = (stopped_at is null)),
  constraint only_stopped_ones_compensate check (compensated_at is null or on_failure = 'compensate' and stopped_at is not null)
);
create index pipeline_created on holdfast.pipeline (created_at, id);

create table holdfast.pipeline_step (
  job_id bigint primary key,
  pipeline_id uuid not null,
  name text not null,
  compensation jsonb,           -- the job that takes this step back, as a member of an enqueue
  compensates bigint,           -- the step that this job takes back
  constraint step_names_are_unique unique (pipeline_id, name)
);

-- Who comes after whom. Ids grow along every edge: locks taken in order of the id follow the graph.
create table holdfast.dependency (
  job_id bigint not null,
  depends_on bigint not null,
  constraint dependency_pkey primary key (depends_on, job_id),
  constraint dependencies_are_older check (depends_on < job_id)
);
create index dependency_of_job on holdfast.dependency (job_id);

-- DURABLE STEPS AND EVENTS

-- What handlers have remembered and what they wait for.
create table holdfast.durable_step (
  job_id bigint not null,
  kind text not null,
  name text not null,
  token bigint not null,        -- of the claim that wrote it, or last waited with it
  at timestamptz not null,      -- when the step ended, or the wait began
  wake_at timestamptz,          -- when a sleep is over, or a wait for an event gives up
  event text,
  is_open boolean not null default false,  -- the event has not come yet and its time is not over
  output jsonb,                 -- of a step; or the event's payload, null when the time was over first
  constraint durable_step_pkey primary key (job_id, kind, name),
  constraint kind_is_known check (kind in ('step', 'sleep', 'event')),
  constraint steps_have_output check (kind <> 'step' or output is not null),
  constraint waits_end_sometime check ((kind = 'step') = (wake_at is null)),
  constraint only_waits_have_events check ((kind = 'event') = (event is not null)),
  constraint open_has_no_output check (not is_open or kind = 'event' and output is null)
);
create index durable_step_waiting on holdfast.durable_step (event) where is_open;

-- The first payload of each event, for those who wait and those who ask later.
create table holdfast.event (
  name text primary key,
  payload jsonb not null,
  at timestamptz not null
);
create index event_at on holdfast.event (at);

-- SCHEDULES

-- What recurs. The stored row is the truth for timing, so that two releases of code cannot fire differently.
create table holdfast.schedule (
  job_key text primary key,
  type text not null,
  cron text,
  every_ms bigint,
  timezone text not null,
  input jsonb,
  input_from_code boolean not null,  -- only a worker that has the definition can compute the input
  options jsonb not null,            -- of each enqueue: queue, priority, max_attempts, tags, key, key_policy, coalesce
  missed text not null,
  window_ms bigint not null,
  overlap text not null,
  gap text,                          -- null: as the pattern suggests
  twice text,
  jitter_ms bigint not null,
  starts_at timestamptz,
  ends_at timestamptz,
  enabled boolean not null default true,
  version bigint not null default 1,  -- grows at every change of timing
  counts_from timestamptz not null,   -- ticks after this moment are owed
  next_tick timestamptz,              -- null: to be planned by a worker; infinity: there is none any more
  last_tick timestamptz,
  last_job bigint,
  locked_by text,
  locked_until timestamptz,
  code jsonb,                         -- what code says; null for a schedule that was made at run time
  is_edited boolean not null default false,  -- an operator's settings, kept against what code says
  fault jsonb,                        -- why the due tick could not be fired
  updated_at timestamptz not null,
  constraint has_cron_or_every check ((cron is null) <> (every_ms is null)),
  constraint every_is_sane check (every_ms between 1000 and 315360000000),
  constraint input_is_stored_or_from_code check ((input is null) = input_from_code),
  constraint missed_is_known check (missed in ('skip', 'last', 'all')),
  constraint overlap_is_known check (overlap in ('allow', 'skip', 'supersede')),
  constraint gap_is_known check (gap in ('after', 'skip')),
  constraint twice_is_known check (twice in ('first', 'second', 'both')),
  constraint window_is_not_negative check (window_ms >= 0),
  constraint jitter_is_not_negative check (jitter_ms >= 0),
  constraint ends_after_start check (ends_at > starts_at),
  constraint edited_has_code check (code is not null or not is_edited)
) with (fillfactor = 60);

-- One row per tick that was acted on. The guarantee that a tick makes at most one job is this primary key.
create table holdfast.schedule_tick (
  job_key text not null,
  tick timestamptz not null,
  state text not null,
  job_id bigint,
  worker text not null,
  at timestamptz not null,
  constraint schedule_tick_pkey primary key (job_key, tick),
  constraint tick_state_is_known check (state in ('fired', 'skipped', 'missed', 'overlapped')),
  constraint only_fired_ticks_have_jobs check (job_id is null or state = 'fired')
);

-- TYPES, QUEUES AND WORKERS

-- What code and operators say of a type. The only lease mapping.
create table holdfast.job_type (
  type text primary key,
  queue text not null default 'default',
  priority smallint not null default 5,
  max_attempts smallint not null default 3,
  lease_seconds integer not null default 30,
  backoff_base_ms bigint not null default 1000,
  backoff_max_ms bigint not null default 3600000,
  pinned boolean not null default false,  -- an operator's row: definitions in code leave it alone
  updated_at timestamptz not null,
  constraint lease_is_sane check (lease_seconds between 1 and 86400),
  constraint backoff_is_sane check (backoff_base_ms >= 0 and backoff_max_ms >= backoff_base_ms)
);

create table holdfast.queue (
  name text primary key,
  paused_at timestamptz,
  paused_by text
);

create table holdfast.worker (
  id text primary key,
  pod text not null,
  pid integer not null,
  version text not null,
  queues text[] not null,
  types text[] not null,
  concurrency integer not null,
  started_at timestamptz not null,
  heartbeat_at timestamptz not null,
  has_lock boolean not null default false,  -- a session of its own holds its advisory lock: a free lock means that it died
  rss_bytes bigint,
  sleeping_until timestamptz,               -- asleep until then unless notified; null while awake
  is_alone boolean not null default false,  -- its process does nothing but work
  loop_delay_ms real,                       -- event-loop delay: 99th percentile since its report before
  clock_offset_ms real                      -- its clock minus the database's
) with (fillfactor = 50);

-- What the last poll of all leases found. Workers share it, instead of reading all leases each for itself.
create table holdfast.lease_poll (
  one boolean primary key default true check (one),
  polled_at timestamptz not null,
  took interval not null,
  first_end timestamptz  -- of the lease that is over first; null without leases
) with (fillfactor = 50);

-- OPERATORS

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

-- One operation on all jobs of a filter, worked off in small steps.
create table holdfast.bulk_operation (
  id bigint generated always as identity primary key,
  operation text not null,
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
  position text,  -- how far the walk through the jobs has come
  finished_at timestamptz,
  constraint operation_is_known check (operation in ('retry', 'cancel')),
  constraint bulk_state_is_known check (state in ('open', 'completed', 'cancelled')),
  constraint finished_has_time check ((state = 'open') = (finished_at is null))
);
create index bulk_operation_open on holdfast.bulk_operation (id) where state = 'open';

-- Who did what by hand, written in the transaction that did it.
create table holdfast.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor text not null,
  action text not null,
  job_id bigint,
  details jsonb not null default '{}'
);
create index audit_job on holdfast.audit (job_id) where job_id is not null;

-- STATISTICS

-- How many jobs of a queue and type ended in a minute, and how long they took; from a day on, in an hour.
create table holdfast.statistics_minute (
  minute timestamptz not null,
  queue text not null,
  type text not null,
  fact text not null,
  n bigint not null,
  wait_ms bigint not null,         -- of those that were claimed; the others have no wait and no run
  run_ms bigint not null,
  wait_buckets bigint[] not null,  -- beside the bounds of stats_buckets
  run_buckets bigint[] not null,
  constraint statistics_minute_pkey primary key (minute, queue, type, fact),
  constraint fact_is_known
    check (fact in ('completed', 'failed', 'cancelled', 'superseded', 'attempt_failed', 'attempt_lost'))
) with (fillfactor = 70);

-- Up to where the statistics are complete. The row moves in the transaction that counts.
create table holdfast.statistics_mark (
  one boolean primary key default true check (one),
  counted_to timestamptz not null,
  folded_to timestamptz not null,  -- before it, rows of statistics_minute stand for an hour
  probe_at timestamptz,            -- once every transaction below probe_xid is over, all that ended before is visible
  probe_xid xid8
);
