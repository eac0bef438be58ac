// What the jobs of the scenarios leave behind, in tables beside Holdfast's own.

export const TABLES = `
  create table started (
    job_id bigint not null, token bigint not null, pid integer not null, at timestamptz not null default clock_timestamp()
  );
  create table effect (job_id bigint primary key, token bigint not null);
  create table effect_log (job_id bigint not null, token bigint not null);
  create table step_log (job_id bigint not null, token bigint not null, name text not null);
  create table relay_log (
    id bigint generated always as identity, pipeline_id uuid not null, hop integer not null, token bigint not null
  );
  grant insert, select on started, effect, effect_log, step_log, relay_log to public;
`
