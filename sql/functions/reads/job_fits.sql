-- job_fits: whether a job fits a filter; place_fits: whether the place that the job is in fits it
--   Guard   none.
--   Locks   none.
--   Returns true, or false or null when a part of the filter does not fit.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- Both have no settings of their own, so that they become part of the statement that calls them.
create or replace function holdfast.job_fits(
  p_filter holdfast.job_filter, p_type text, p_queue text, p_tags text[], p_input jsonb
)
  returns boolean
  language sql stable
as $$
  select (p_filter.types is null or p_type = any (p_filter.types))
     and (p_filter.queues is null or p_queue = any (p_filter.queues))
     and (p_filter.tags is null or p_tags @> p_filter.tags)
     and (p_filter.input is null or holdfast.input_fits(p_input, p_filter.input))
$$;

create or replace function holdfast.place_fits(
  p_filter holdfast.job_filter, p_state text, p_at timestamptz, p_worker text, p_error jsonb
)
  returns boolean
  language sql stable
as $$
  select (p_filter.states is null or p_state = any (p_filter.states))
     and (p_filter.since is null or p_at >= p_filter.since)
     and (p_filter.until is null or p_at < p_filter.until)
     and (p_filter.worker is null or p_worker = p_filter.worker)
     and (p_filter.error is null or p_error is not null
            and strpos(lower(concat(p_error ->> 'name', ' ', p_error ->> 'message')), lower(p_filter.error)) > 0)
$$;

-- What stands at each path, printed as text, is exactly the value.
create or replace function holdfast.input_fits(p_input jsonb, p_conditions jsonb) returns boolean
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select not exists (
    select
      from jsonb_to_recordset(p_conditions) as c(path text[], value text)
     where p_input #>> c.path is distinct from c.value
  )
$$;
