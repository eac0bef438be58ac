-- The places of a job and what stands beside them. A job's state is the one place it is in (job itself is only what was asked).
-- oldest-program: 1
create schema if not exists holdfast;

create table holdfast.migration (
  revision integer primary key,
  name text not null,
  checksum text not null,
  oldest_program integer not null,  -- programs of a lower revision must not use this database any more
  applied_at timestamptz not null default clock_timestamp()
);

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
  constraint priority_is_0_to_9 check (priority between 0 and 9),
  constraint max_attempts_is_positive check (max_attempts between 1 and 1000),
  constraint key_has_policy check ((key is null) = (key_policy is null)),
  constraint key_policy_is_known check (key_policy in ('exclusive', 'supersede', 'coalesce'))
);
create unique index job_dedupe on holdfast.job (type, dedupe_id) where dedupe_id is not null;
create index job_of_key on holdfast.job (key, id) where key is not null;
create index job_pipeline on holdfast.job (pipeline_id) where pipeline_id is not null;

-- pending. Narrow, short-lived rows: vacuum early, by count rather than by share of a table that empties and fills.
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
  constraint ready_pkey primary key (job_id),
  constraint attempts_are_left check (attempts < max_attempts),
  constraint only_keyed_jobs_park check (key is not null or not (parked or coalescing)),
  constraint keyed_jobs_have_rank check ((key is null) = (rank is null))
) with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.5,
  autovacuum_analyze_scale_factor = 0.5,
  autovacuum_vacuum_cost_delay = 0
);
create index ready_claim on holdfast.ready (queue, priority, run_at, job_id) where not parked and crashes < 2;
create index ready_suspect on holdfast.ready (queue, priority, run_at, job_id) where not parked and crashes >= 2;
create index ready_key on holdfast.ready (key, parked, priority, run_at, job_id) where key is not null;
create index ready_newest on holdfast.ready (key, rank) where key_policy in ('supersede', 'coalesce');
create unique index ready_one_coalescing on holdfast.ready (key) where coalescing;

-- running. fillfactor leaves room for renewals and progress to stay on their page (HOT).
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
  constraint lease_pkey primary key (job_id),
  constraint token_is_positive check (token > 0),
  constraint attempt_is_counted check (attempts between 1 and max_attempts),
  constraint progress_is_a_share check (progress between 0 and 1)
) with (
  fillfactor = 60,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.5,
  autovacuum_analyze_scale_factor = 0.5,
  autovacuum_vacuum_cost_delay = 0
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
create index outcome_finished on holdfast.outcome using brin (finished_at);
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
  beat_at timestamptz not null,
  has_lock boolean not null default false,  -- a session of its own holds its advisory lock: a free lock means that it died
  rss_bytes bigint,
  sleeping_until timestamptz  -- asleep until then unless notified; null while awake
) with (fillfactor = 50);

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
