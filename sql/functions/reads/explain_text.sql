-- explain_text: a reason as a sentence
--   Guard   none.
--   Locks   none.
--   Returns one sentence for people, made of the facts. No other place words a reason.
--   Notifies nothing.
--   Tested by  test/sql/reads/explain_job.test.ts
create or replace function holdfast.explain_text(p_code text, p_facts jsonb) returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'
as $$
declare
  v_until constant text := to_char((p_facts ->> 'until')::timestamptz, 'YYYY-MM-DD HH24:MI:SS "UTC"');
  v_since constant text := to_char((p_facts ->> 'since')::timestamptz, 'YYYY-MM-DD HH24:MI:SS "UTC"');
  v_known constant text := coalesce(
    nullif(array_to_string(array(select jsonb_array_elements_text(p_facts -> 'known')), ', '), ''), 'none');
begin
  return case p_code
    when 'NOT_DUE' then format('it is not due until %s', v_until)
    when 'RETRY_LATER' then format('attempt %s of %s failed (%s); the next one is due at %s', p_facts ->> 'attempts',
      p_facts ->> 'max_attempts', p_facts ->> 'error', v_until)
    when 'SLEEPING' then format('its handler sleeps (%s) until %s', p_facts ->> 'name', v_until)
    when 'WAITING_FOR_EVENT' then format('its handler waits for the event "%s" until %s', p_facts ->> 'event', v_until)
    when 'WAITING_FOR_JOBS' then format('it waits for %s', (
      select string_agg(format('job %s (%s, %s)', b.job ->> 'id', b.job ->> 'type', b.job ->> 'state'), ', '
                        order by (b.job ->> 'id')::bigint)
        from jsonb_array_elements(p_facts -> 'jobs') as b(job)))
      || case when (p_facts ->> 'is_more')::boolean then ' and more' else '' end
    when 'QUEUE_PAUSED' then format('queue "%s" has been paused by %s since %s', p_facts ->> 'queue', p_facts ->> 'by', v_since)
    when 'KEY_HELD' then format('its key is held by job %s, whose lease runs until %s', p_facts ->> 'job_id', v_until)
    when 'RUNS_ALONE' then format('%s workers died while it ran: it starts when a worker has nothing else to do',
      p_facts ->> 'crashes')
    when 'NO_WORKER' then 'no worker is alive'
    when 'QUEUE_NOT_SERVED' then format('no live worker serves queue "%s"; served are: %s', p_facts ->> 'queue', v_known)
    when 'TYPE_NOT_SERVED' then format('no live worker of queue "%s" has a handler for type "%s"; they have: %s',
      p_facts ->> 'queue', p_facts ->> 'type', v_known)
    when 'WORKERS_BUSY' then format('all %s slots of the %s live workers that can run it are taken', p_facts ->> 'slots',
      p_facts ->> 'workers')
    when 'BEHIND_OTHERS' then format('%s%s due jobs of its queue come before it',
      case when (p_facts ->> 'is_more')::boolean then 'at least ' else '' end, p_facts ->> 'ahead')
    when 'DUE' then 'it can start now: a worker takes it at its next poll'
    when 'RUNNING' then format('it runs on %s since %s, attempt %s of %s; its lease runs until %s', p_facts ->> 'worker',
      v_since, p_facts ->> 'attempts', p_facts ->> 'max_attempts', v_until)
    when 'LEASE_OVER' then format('its holder %s has not renewed the lease, which was over at %s: any worker takes it back',
      p_facts ->> 'worker', v_until)
    when 'ATTEMPTS_USED_UP' then format('all %s attempts are used up; the last one failed at %s: %s',
      p_facts ->> 'max_attempts', v_since, p_facts ->> 'error')
    when 'FINISHED' then format('it is %s since %s', p_facts ->> 'state', v_since)
      || coalesce(': ' || (p_facts ->> 'error'), '')
  end;
end
$$;
