-- Waiting jobs are listed and counted like pending ones; what lists answer has more columns, which cannot be replaced in place.
-- oldest-program: 8
alter table holdfast.waiting add column type text, add column queue text;
update holdfast.waiting as w set type = j.type, queue = j.queue from holdfast.job as j where j.id = w.job_id;
alter table holdfast.waiting alter column type set not null, alter column queue set not null;
create index waiting_of_queue on holdfast.waiting (queue);

drop function if exists
  holdfast.list_jobs_v1(jsonb, text, integer),
  holdfast.list_jobs(jsonb, text, integer),
  holdfast.summarize_job(bigint, timestamptz, timestamptz),
  holdfast.job_versions_v1(bigint[]),
  holdfast.list_queues_v1(text, integer),
  holdfast.live_counts_v1(),
  holdfast.find_pipeline_v1(uuid),
  holdfast.find_pipeline(uuid),
  holdfast.list_pipelines_v1(timestamptz, uuid, integer);
