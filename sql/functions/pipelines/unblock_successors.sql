-- unblock_successors: waiting → pending | cancelled for the jobs that depend on those that have just ended
--   Guard   the caller has ended the jobs in this transaction, each in the state at its place in p_states.
--   Locks   as lock_successors; pending jobs of a stopped pipeline, skip locked.
--   Returns the jobs that became pending. When a pipeline stops, its waiting and pending jobs are cancelled and running jobs may
--           end; when all jobs of one with on_failure compensate have ended, its compensations begin.
--   Notifies workers of these jobs' queues, by p_wake.
create or replace function holdfast.unblock_successors(p_job_ids bigint[], p_states text[], p_wake text)
  returns bigint[]
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_nestloop = off  -- 1,000 x 1,000 when the planner believes that one job waits
as $$
declare
  v_held record;
  v_after bigint[];
  v_counts integer[];
  v_freed bigint[];
  v_tokens bigint[];
  v_pipeline uuid;
begin
  select h.stopping, h.compensating into v_held from holdfast.lock_successors(p_job_ids, p_states) as h;
  foreach v_pipeline in array v_held.stopping loop
    perform holdfast.stop_pipeline(v_pipeline, p_job_ids, p_states);
  end loop;

  select array_agg(d.job_id), array_agg(d.n)
    into v_after, v_counts
    from (
      select d.job_id, count(*)::integer as n
        from holdfast.dependency as d
       where d.depends_on = any (p_job_ids)
       group by d.job_id
    ) as d;
  if v_after is not null then
    select array_agg(w.job_id order by w.job_id), array_agg(w.token order by w.job_id)
      into v_freed, v_tokens
      from holdfast.waiting as w
      join unnest(v_after, v_counts) as d(job_id, n) on d.job_id = w.job_id
     where w.job_id = any (v_after)
       and w.open = d.n;
    perform holdfast.drop_waiting(v_freed);
    if cardinality(v_freed) is distinct from cardinality(v_after) then
      update holdfast.waiting as w
         set open = w.open - d.n
        from unnest(v_after, v_counts) as d(job_id, n)
       where w.job_id = any (v_after)
         and w.job_id = d.job_id;
    end if;
    perform holdfast.ready_steps(v_freed, v_tokens);
  end if;
  foreach v_pipeline in array v_held.compensating loop
    v_freed := v_freed || holdfast.compensate_pipeline(v_pipeline);
  end loop;

  if v_freed <> '{}' and p_wake <> 'never' then
    perform holdfast.wake_workers(
      array(select distinct r.queue from holdfast.ready as r where r.job_id = any (v_freed)), holdfast.now(), p_wake);
  end if;
  return coalesce(v_freed, '{}');
end
$$;
