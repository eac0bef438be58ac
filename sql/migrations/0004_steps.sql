-- What handlers have remembered and what they wait for, and the events that were told.
-- oldest-program: 1
create table holdfast.step (
  job_id bigint not null,
  kind text not null,
  name text not null,
  token bigint not null,        -- of the claim that wrote it, or last waited with it
  at timestamptz not null,      -- when the step ended, or the wait began
  wake_at timestamptz,          -- when a sleep is over, or a wait for an event gives up
  event text,
  is_open boolean not null default false,  -- the event has not come yet and its time is not over
  output jsonb,                 -- of a step; or the event's payload, null when the time was over first
  constraint step_pkey primary key (job_id, kind, name),
  constraint kind_is_known check (kind in ('step', 'sleep', 'event')),
  constraint steps_have_output check (kind <> 'step' or output is not null),
  constraint waits_end_sometime check ((kind = 'step') = (wake_at is null)),
  constraint only_waits_have_events check ((kind = 'event') = (event is not null)),
  constraint open_has_no_output check (not is_open or kind = 'event' and output is null)
);
create index step_waiting on holdfast.step (event) where is_open;

-- The first payload of each event, for those who wait and those who ask later.
create table holdfast.event (
  name text primary key,
  payload jsonb not null,
  at timestamptz not null
);
create index event_at on holdfast.event (at);
