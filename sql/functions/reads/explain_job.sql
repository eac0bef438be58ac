-- explain_job: why a job does not run, or how it ended
--   Guard   none.
--   Locks   none.
--   Returns one row per reason: its constant code, the sentence, the facts; and when the job is expected to start, the same
--           in each row, null when it is unknown. Raises JOB_NOT_FOUND.
--   Notifies nothing.
create or replace function holdfast.explain_job_v1(p_job_id bigint)
  returns table (code text, text text, facts jsonb, expected_start timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'
as $$
declare
  v_job holdfast.jobs;
  v_reasons jsonb;
  v_start timestamptz;
begin
  select v.* into v_job from holdfast.find_job_v1(p_job_id) as v;
  if not found then
    perform holdfast.refuse('JOB_NOT_FOUND', format('there is no job %s', p_job_id), jsonb_build_object('job_id', p_job_id));
  end if;

  if v_job.state = 'pending' then
    v_reasons := (
      select coalesce(jsonb_agg(jsonb_build_object('code', r.code, 'facts', r.facts)), '[{"code": "DUE", "facts": {}}]')
        from holdfast.explain_pending(p_job_id) as r
    );
    -- Time alone is in its way, or nothing.
    if not exists (
      select
        from jsonb_array_elements(v_reasons) as r(reason)
       where r.reason ->> 'code' not in ('DUE', 'NOT_DUE', 'RETRY_LATER', 'SLEEPING')
    ) then
      v_start := greatest(v_job.run_at, holdfast.now());
    end if;
  elsif v_job.state = 'waiting' then
    v_reasons := (
      select jsonb_build_array(jsonb_build_object('code', 'WAITING_FOR_JOBS', 'facts', jsonb_build_object(
               'jobs', coalesce(jsonb_agg(o.job) filter (where o.place <= 10), '[]'), 'is_more', count(*) > 10)))
        from (
          select jsonb_build_object('id', d.depends_on, 'type', j.type, 'state', s.state) as job, row_number() over () as place
            from holdfast.dependency as d
           cross join lateral (select b.type from holdfast.job as b where b.id = d.depends_on limit 1) as j
           cross join lateral (select holdfast.state_of(d.depends_on)) as s(state)
           where d.job_id = p_job_id
             and s.state in ('pending', 'waiting', 'running')
           limit 11
        ) as o
    );
  else
    v_reasons := jsonb_build_array(jsonb_build_object(
      'code', case
        when v_job.state = 'running' then case when v_job.locked_until < holdfast.now() then 'LEASE_OVER' else 'RUNNING' end
        when v_job.state = 'failed' and v_job.attempts >= v_job.max_attempts then 'ATTEMPTS_USED_UP'
        else 'FINISHED'
      end,
      'facts', jsonb_strip_nulls(jsonb_build_object('state', v_job.state, 'worker', v_job.locked_by,
        'since', case when v_job.state = 'running' then v_job.locked_at else v_job.finished_at end,
        'until', v_job.locked_until, 'attempts', v_job.attempts, 'max_attempts', v_job.max_attempts,
        'progress', v_job.progress, 'status_message', v_job.status_message, 'error', v_job.error ->> 'message'))));
  end if;

  return query
    select r.reason ->> 'code', holdfast.explain_text(r.reason ->> 'code', r.reason -> 'facts'), r.reason -> 'facts', v_start
      from jsonb_array_elements(v_reasons) with ordinality as r(reason, place)
     order by r.place;
end
$$;

create or replace function holdfast.explain_job(job_id bigint)
  returns table (code text, text text, facts jsonb, expected_start timestamptz)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.explain_job_v1(job_id) $$;
