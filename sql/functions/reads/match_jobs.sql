-- match_jobs: the jobs that fit a filter, newest first
--   Guard   none.
--   Locks   none.
--   Returns their ids, at most p_limit, each with the moment it finished or was claimed; where the next page begins (null:
--           there is none); whether the search ended because it had found enough; and the moment of the last job read.
--           Raises INVALID_OPTION for a position that this filter does not have.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- A filter with states or a time reads running, pending and waiting jobs by id, then finished ones by when they finished; any
-- other filter reads all by id. A search stops after the cost of p_most reads of a job, or after two seconds.
create or replace function holdfast.match_jobs(
  p_filter holdfast.job_filter, p_after text, p_limit integer, p_most integer default 10000,
  out ids bigint[], out ats timestamptz[], out next text, out is_full boolean, out searched_to timestamptz
)
  language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan  -- a plan leaves out the days and the places that this call does not read
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off  -- a small day would be read whole for each job
  set enable_sort = off  -- a table that drains is read from its newest row on, also when its statistics call it empty
as $$
declare
  v_deadline constant timestamptz := holdfast.now() + interval '2 seconds';
  v_places constant text[] := case
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
  end;
  v_after constant text[] := regexp_match(p_after, '^([a-z]+):(-|\d{1,17}):(-|\d{1,18})$');
  -- Clocks are set back now and then: but the days that are made ahead are not read.
  v_until constant timestamptz := least(p_filter.until, holdfast.now() + interval '1 hour');
  -- A row of a place costs a tenth of a row of job; to find the place of a job costs ten times as much.
  v_asks_job constant boolean := num_nonnulls(p_filter.tags, p_filter.input, p_filter.since, p_filter.until) > 0;
  v_asks_place constant boolean :=
    num_nonnulls(p_filter.states, p_filter.worker, p_filter.error, p_filter.since, p_filter.until) > 0;
  v_place text := v_places[1];
  v_at timestamptz := v_until;
  v_id bigint := case v_place when 'finished' then 0 else 9223372036854775807 end;
  v_n integer := least(p_limit + 1, 1000);
  v_cost double precision := 0;
  v_step record;
begin
  if p_after is not null then
    v_place := v_after[1];
    v_at := case v_after[2] when '-' then v_at else timestamptz 'epoch' + v_after[2]::bigint * interval '1 microsecond' end;
    v_id := case v_after[3] when '-' then v_id else v_after[3]::bigint end;
    if v_place is null or v_place <> all (v_places) then
      perform holdfast.refuse('INVALID_OPTION', 'after is no position in a list of this filter',
        jsonb_build_object('received', left(p_after, 100)));
    end if;
  end if;

  ids := '{}';
  ats := '{}';
  while v_place is not null and cardinality(ids) < p_limit and v_cost < p_most and holdfast.now() < v_deadline loop
    v_step := case v_place
      when 'id' then holdfast.match_by_id(p_filter, v_until, v_id, v_n)
      when 'finished' then holdfast.match_finished(p_filter, v_at, v_id, v_n)
      else holdfast.match_living(p_filter, v_place, v_id, v_n)
    end;
    ids := ids || v_step.ids;
    ats := ats || v_step.ats;
    searched_to := coalesce(v_step.searched_to, searched_to);
    v_cost := v_cost + v_step.n_read * case
      when v_place in ('running', 'pending', 'waiting') and not v_asks_job then 0.1
      when v_place = 'id' and v_asks_place then 10
      else 1
    end;
    if cardinality(ids) > p_limit then
      ids := ids[:p_limit];
      ats := ats[:p_limit];
      v_at := ats[p_limit];
      v_id := ids[p_limit];
      searched_to := coalesce(v_at, searched_to);
    elsif v_step.next_id is not null then
      v_at := v_step.next_at;
      v_id := v_step.next_id;
    else
      v_place := v_places[array_position(v_places, v_place) + 1];
      v_at := v_until;
      v_id := case v_place when 'finished' then 0 else 9223372036854775807 end;
    end if;
    v_n := least(2 * v_n, 1000);
  end loop;

  is_full := cardinality(ids) = p_limit or v_place is null;
  next := v_place || format(':%s:%s',
    case v_place when 'finished' then (extract(epoch from v_at) * 1000000)::bigint::text else '-' end,
    case when v_id < 9223372036854775807 then v_id::text else '-' end);
end
$$;
