-- match_jobs: walks through the jobs, newest first, for those that fit a filter
--   Guard   none.
--   Locks   none.
--   Returns their ids, for finished ones with the moment, at most p_limit; where to go on (null: that was all); whether it
--           ended because it had found enough; and the moment of the last job looked at. Raises INVALID_OPTION for a position
--           that this filter does not walk by.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- With states or a time: running by id, pending by id, waiting by id, finished by when they finished. Else by id. It stops after having
-- looked up p_looks jobs, or after two seconds, and can always go on: no filter makes it read all of history.
create or replace function holdfast.match_jobs(
  p_filter holdfast.job_filter,
  p_after text,
  p_limit integer,
  p_looks integer default 10000,
  out ids bigint[], out ats timestamptz[], out next text, out is_full boolean, out searched_to timestamptz
)
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_deadline constant timestamptz := holdfast.now() + interval '2 seconds';
  v_places constant text[] := holdfast.places_of(p_filter);
  v_after constant text[] := regexp_match(p_after, '^([a-z]+):(-|\d{1,17}):(-|\d{1,18})$');
  -- What a place's own narrow rows tell costs a tenth of looking up a job, to find the place of a job ten times as much.
  v_asks_job constant boolean := num_nonnulls(p_filter.tags, p_filter.input, p_filter.since, p_filter.until) > 0;
  v_asks_place constant boolean :=
    num_nonnulls(p_filter.states, p_filter.worker, p_filter.error, p_filter.since, p_filter.until) > 0;
  v_place text := v_places[1];
  v_at timestamptz := holdfast.newest_end(p_filter);
  v_id bigint := case v_places[1] when 'finished' then 0 else 9223372036854775807 end;
  v_n integer := least(p_limit + 1, 1000);
  v_looks double precision := 0;
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
  while v_place is not null and cardinality(ids) < p_limit and v_looks < p_looks and holdfast.now() < v_deadline loop
    v_step := holdfast.match_step(p_filter, v_place, v_at, v_id, v_n);
    ids := ids || v_step.ids;
    ats := ats || coalesce(v_step.ats, array_fill(null::timestamptz, array[coalesce(cardinality(v_step.ids), 0)]));
    searched_to := coalesce(v_step.searched_to, searched_to);
    v_looks := v_looks + v_step.looked * case
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
    else
      v_place := v_step.place;
      v_at := v_step.at;
      v_id := v_step.id;
    end if;
    v_n := least(2 * v_n, 1000);
  end loop;

  is_full := cardinality(ids) = p_limit or v_place is null;
  next := format('%s:%s:%s', v_place,
    case v_place when 'finished' then (extract(epoch from v_at) * 1000000)::bigint::text else '-' end,
    case when v_id < 9223372036854775807 then v_id::text else '-' end);
  if v_place is null then
    next := null;
  end if;
end
$$;
