-- places_of: where the jobs of a filter are looked for, in this order
--   Guard   none.
--   Locks   none.
--   Returns id alone, for jobs by their id; or those of running, pending, waiting and finished that the states allow.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
create or replace function holdfast.places_of(p_filter holdfast.job_filter)
  returns text[]
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $$
  select case
    when num_nonnulls(p_filter.ids, p_filter.key, p_filter.pipeline_id) > 0
      or num_nonnulls(p_filter.states, p_filter.since, p_filter.until) = 0 then array['id']
    else array(
      select p.place
        from (values
          (1, 'running', array['running']),
          (2, 'pending', array['pending']),
          (3, 'waiting', array['waiting']),
          (4, 'finished', array['completed', 'failed', 'cancelled', 'superseded'])
        ) as p(turn, place, states)
       where p_filter.states is null
          or p_filter.states && p.states
       order by p.turn
    )
  end
$$;
