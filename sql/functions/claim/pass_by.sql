-- pass_by: how far from a position on stand rows that a claim cannot have
--   Guard   as scan_queue, whose settings it runs with.
--   Locks   none.
--   Returns the position of a row that a recent transaction has locked, or whose key is among p_keys: the furthest that was found,
--           or the position that was given.
--   Notifies nothing.
--   Tested by  test/sql/claim/pass_by.test.ts
-- Workers of one queue claim from about the same place, and each would walk over all that the others have in hand; and over the
-- backlog of a held key, if it may. Instead single rows are looked at by id, each twice as far as the last, until one could be
-- claimed; and then between that one and the last before it. Where none is found, the end of the last ones that cannot be had is
-- looked for in the same way. What is passed by all the same waits for the next look from the start.
create or replace function holdfast.pass_by(
  p_queue text,
  p_types text[],
  p_priority integer,
  p_run_at timestamptz,
  p_job_id bigint,
  p_now timestamptz,
  p_open_age integer,
  p_keys text[],
  out o_run_at timestamptz,
  out o_job_id bigint
)
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_near constant integer := 64;       -- so few are as soon walked over
  v_furthest constant integer := 1048576;
  v_distance integer := 2 * v_near;
  v_shut integer := 0;                 -- what is there cannot be had
  v_passed integer := 0;               -- nor there, or it is gone, not due or another queue's
  v_free integer;                      -- what is there could be claimed, or nothing is known to be there
  v_is_last boolean := false;
  v_run_at timestamptz;
  v_is_shut boolean;
begin
  o_run_at := p_run_at;
  o_job_id := p_job_id;
  loop
    select r.run_at, r.xmax <> 0 and age(r.xmax) <= p_open_age or coalesce(r.key = any (p_keys), false)
      into v_run_at, v_is_shut
      from holdfast.ready as r
     where r.job_id = p_job_id + v_distance
       and r.queue = p_queue
       and r.priority = p_priority
       and r.run_at >= p_run_at
       and r.run_at <= p_now
       and not r.parked
       and r.crashes < 2
       and r.type = any (p_types);
    if coalesce(not v_is_shut, v_is_last) then
      v_free := v_distance;
    else
      v_passed := v_distance;
    end if;
    if v_is_shut and v_run_at >= o_run_at then
      v_shut := v_distance;
      o_run_at := v_run_at;
      o_job_id := p_job_id + v_distance;
    end if;
    if v_free is null and v_distance >= v_furthest then
      v_is_last := true;
      v_passed := v_shut;
      v_free := 2 * v_shut;
    end if;
    exit when v_free - v_passed <= v_near;
    v_distance := case when v_free is null then 2 * v_distance else (v_passed + v_free) / 2 end;
  end loop;
end
$$;
