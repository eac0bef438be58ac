-- read_common: what the members of an enqueue share, with their type's defaults and the moment they are due
--   Guard   none; check_common has checked it.
--   Locks   none.
--   Returns each option's common value, or else that of the type, or else the default.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_jobs.test.ts
-- Without settings of its own: it runs under its callers'. Statements and not one query: only the options that are given take time.
create or replace function holdfast.read_common(
  p_type text,
  p_common jsonb,
  p_now timestamptz,
  out queue text,
  out priority smallint,
  out max_attempts smallint,
  out run_at timestamptz,
  out pipeline_id uuid,
  out tags text[],
  out trace text
)
  language plpgsql stable
as $$
begin
  select y.queue, y.priority, y.max_attempts
    into queue, priority, max_attempts
    from holdfast.job_type as y
   where y.type = p_type;
  queue := coalesce(p_common ->> 'queue', queue, 'default');
  priority := coalesce((p_common ->> 'priority')::smallint, priority, 5::smallint);
  max_attempts := coalesce((p_common ->> 'max_attempts')::smallint, max_attempts, 3::smallint);
  run_at := p_now;
  tags := '{}';
  if p_common ?| '{run_at,delay,pipeline_id,tags,trace}' then
    run_at := coalesce((p_common ->> 'run_at')::timestamptz, p_now + holdfast.delay_interval(p_common -> 'delay'), p_now);
    pipeline_id := p_common ->> 'pipeline_id';
    if p_common ? 'tags' then
      tags := array(select jsonb_array_elements_text(p_common -> 'tags'));
    end if;
    trace := p_common ->> 'trace';
  end if;
end
$$;
