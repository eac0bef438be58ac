-- list_jobs: a page of the jobs that fit a filter, newest first; count_jobs: how many fit, up to a cap
--   Guard   none.
--   Locks   none.
--   Returns up to p_limit jobs without input and output, all of one moment. Each row also says where the next page begins
--           (null: there is none), whether the page is full, and how far it has searched; an empty page is one row of that.
--           count_jobs returns the count, and whether there may be more: it stops at 10,000 and after two seconds.
--   Notifies nothing.
-- match_jobs says in which order jobs are read, and when a search stops.
create or replace function holdfast.list_jobs_v1(
  p_filter jsonb default '{}', p_after text default null, p_limit integer default 50
)
  returns table (
    id bigint, type text, queue text, priority smallint, state text, key text, key_policy text, attempts smallint,
    max_attempts smallint, progress real, status_message text, error_name text, error_message text, locked_by text,
    locked_at timestamptz, parked boolean, pipeline_id uuid, tags text[], created_at timestamptz, run_at timestamptz,
    finished_at timestamptz, step text, next text, is_full boolean, searched_to timestamptz
  )
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off  -- a small day would be read whole for each job
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_filter constant holdfast.job_filter := holdfast.read_filter(p_filter);
  v_page record;
begin
  if p_limit is null or p_limit not between 1 and 200 then
    perform holdfast.refuse('INVALID_OPTION', 'limit must be from 1 to 200', jsonb_build_object('received', p_limit));
  end if;
  v_page := holdfast.match_jobs(v_filter, p_after, p_limit);
  return query
    select r.*, v_page.next, v_page.is_full, v_page.searched_to
      from (select) as one
      left join lateral (
        select s.*
          from unnest(v_page.ids, v_page.ats) with ordinality as m(id, at, place)
         cross join lateral holdfast.summarize_job(m.id, m.at, v_now) as s
         order by m.place
      ) as r on true;
end
$$;

create or replace function holdfast.count_jobs_v1(p_filter jsonb, out count integer, out is_capped boolean)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
begin
  v_found := holdfast.match_jobs(holdfast.read_filter(p_filter), null, 10000, 50000);
  count := cardinality(v_found.ids);
  is_capped := v_found.next is not null;
end
$$;
