-- read_filter: a filter of jobs as a row, with moments instead of spans of time
--   Guard   only known parts, each of its own kind.
--   Locks   none.
--   Returns the filter; raises INVALID_OPTION. since_ms and until_ms are spans before now, since and until moments.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
create or replace function holdfast.read_filter(p_filter jsonb) returns holdfast.job_filter
  language plpgsql stable set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'
as $$
declare
  v_filter holdfast.job_filter;
  v_unknown text;
begin
  if p_filter is null or jsonb_typeof(p_filter) <> 'object' then
    perform holdfast.refuse('INVALID_OPTION', 'a filter must be a JSON object', jsonb_build_object('received', p_filter));
  end if;
  select k.part
    into v_unknown
    from jsonb_object_keys(p_filter) as k(part)
   where k.part <> all (array['states', 'types', 'queues', 'ids', 'key', 'pipeline_id', 'tags', 'worker', 'error', 'since',
                              'until', 'since_ms', 'until_ms', 'input'])
   limit 1;
  if found then
    perform holdfast.refuse('INVALID_OPTION', format('a filter has no part %s', left(v_unknown, 100)),
      jsonb_build_object('received', left(v_unknown, 100)));
  end if;

  begin
    v_filter := jsonb_populate_record(null::holdfast.job_filter, p_filter);
    v_filter.since := coalesce(v_filter.since, holdfast.now() - make_interval(secs => 0.001 * (p_filter ->> 'since_ms')::bigint));
    v_filter.until := coalesce(v_filter.until, holdfast.now() - make_interval(secs => 0.001 * (p_filter ->> 'until_ms')::bigint));
  exception
    when data_exception then
      perform holdfast.refuse('INVALID_OPTION', 'a part of the filter is not of its kind', jsonb_build_object('reason', sqlerrm));
  end;
  if v_filter.input is not null and jsonb_typeof(v_filter.input) <> 'array' then
    perform holdfast.refuse('INVALID_OPTION', 'input must be an array of conditions', '{}');
  end if;
  return v_filter;
end
$$;
