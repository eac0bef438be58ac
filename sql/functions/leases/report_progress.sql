-- report_progress: running → running, with the progress that its handler reports
--   Guard   the caller holds the job's lease (job id, token, lease id).
--   Locks   the lease row.
--   Returns true, or false when the lease is lost. Null keeps the stored share or message.
--   Notifies nothing.
create or replace function holdfast.report_progress_v1(
  p_job_id bigint, p_token bigint, p_lease_id uuid, p_progress real, p_message text default null
)
  returns boolean
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  update holdfast.lease as l
     set progress = case when p_progress is null then l.progress else least(greatest(p_progress, 0), 1) end,
         status_message = coalesce(left(p_message, 1000), l.status_message)
   where l.job_id = p_job_id and l.token = p_token and l.lease_id = p_lease_id;
  return found;
end
$$;

create or replace function holdfast.report_progress(
  job_id bigint, token bigint, lease_id uuid, progress real, message text default null
)
  returns boolean
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select holdfast.report_progress_v1(job_id, token, lease_id, progress, message) $$;
