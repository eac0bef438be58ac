-- What recurs, and one row per tick that has come to something. The stored row is the truth for timing, so that two releases of
-- code cannot fire differently.
-- oldest-program: 1
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

-- The guarantee that a tick makes at most one job is this primary key.
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
