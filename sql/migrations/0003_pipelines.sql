-- Jobs that belong together: what was asked of them as one, which of them come after which, and the place of those that wait.
-- oldest-program: 1
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

-- waiting. `open` counts the dependencies that are not final yet; who ends the last one moves the job to ready.
create table holdfast.waiting (
  job_id bigint not null,
  pipeline_id uuid not null,
  open integer not null,
  token bigint not null default 0,
  constraint waiting_pkey primary key (job_id),
  constraint waits_for_something check (open > 0)
) with (fillfactor = 80);
create index waiting_of_pipeline on holdfast.waiting (pipeline_id, job_id);

-- A linked job is part of a pipeline with a graph: how it ends concerns others.
alter table holdfast.ready add column linked boolean not null default false;
alter table holdfast.lease add column linked boolean not null default false;

-- Its successor answers with the jobs that became pending, which is another type of result.
drop function if exists holdfast.end_leases(bigint[], text, jsonb[], jsonb[]);
