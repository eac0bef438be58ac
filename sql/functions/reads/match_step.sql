-- match_step: one step of match_jobs: looks at the next p_n jobs of one place
--   Guard   none.
--   Locks   none.
--   Returns the jobs that fit, how many were looked at, the moment of the last of them, and where the next step begins; a
--           null place when no job is left.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_jobs.test.ts
-- Finished jobs are walked day by day; the jobs left are those before (p_at, p_id), the others those before p_id.
create or replace function holdfast.match_step(
  p_filter holdfast.job_filter,
  p_place text,
  p_at timestamptz,
  p_id bigint,
  p_n integer,
  out ids bigint[], out ats timestamptz[], out looked integer, out searched_to timestamptz,
  out place text, out at timestamptz, out id bigint
)
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_places constant text[] := holdfast.places_of(p_filter);
  v_day timestamptz;
  v_last record;
begin
  if p_place = 'id' then
    v_last := holdfast.match_by_id(p_filter, p_id, p_n);
  elsif p_place = 'running' then
    v_last := holdfast.match_running(p_filter, p_id, p_n);
  elsif p_place = 'pending' then
    v_last := holdfast.match_pending(p_filter, p_id, p_n);
  elsif p_place = 'waiting' then
    v_last := holdfast.match_waiting(p_filter, p_id, p_n);
  else
    v_day := holdfast.finished_day(case when p_id > 0 then p_at + interval '1 microsecond' else p_at end);
    if v_day is null or v_day + interval '1 day' <= p_filter.since then
      looked := 0;
      return;
    end if;
    v_last := holdfast.match_finished(p_filter, greatest(v_day, p_filter.since), v_day + interval '1 day', p_at, p_id, p_n);
  end if;

  ids := v_last.ids;
  ats := v_last.ats;
  looked := v_last.looked;
  searched_to := v_last.last_at;
  if looked = p_n then
    place := p_place;
    at := v_last.last_at;
    id := v_last.last_id;
  elsif p_place = 'finished' then
    place := p_place;
    at := v_day;
    id := 0;
  else
    place := v_places[array_position(v_places, p_place) + 1];
    at := holdfast.newest_end(p_filter);
    id := case place when 'finished' then 0 else 9223372036854775807 end;
  end if;
end
$$;
