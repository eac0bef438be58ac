-- pass_claims: how far others are claiming just now, from a position on
--   Guard   as claim_ids, whose settings it runs with.
--   Locks   none.
--   Gives   the position of a row that a recent transaction has locked, the furthest that was found, or the one that was given.
--   Tells   nothing.
--   Tested by  test/sql/pass_claims.test.ts
-- Workers of one queue claim from about the same place, and each would walk over all that the others have in hand. Instead single
-- rows are looked at by id, each twice as far as the last, until one could be claimed; and then between that one and the last
-- before it. What is passed by all the same waits for the next look from the start.
create or replace function holdfast.pass_claims(
  p_queue text,
  p_types text[],
  p_priority integer,
  p_run_at timestamptz,
  p_job_id bigint,
  p_now timestamptz,
  p_open_age integer,
  out o_run_at timestamptz,
  out o_job_id bigint
)
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_near constant integer := 64;       -- so few are as soon walked over
  v_furthest constant integer := 65536;
  v_distance integer := 2 * v_near;
  v_passed integer := 0;               -- what is there is locked, gone or another queue's
  v_free integer;                      -- what is there could be claimed
  v_run_at timestamptz;
  v_is_locked boolean;
begin
  o_run_at := p_run_at;
  o_job_id := p_job_id;
  loop
    select r.run_at, r.xmax <> 0 and age(r.xmax) <= p_open_age
      into v_run_at, v_is_locked
      from holdfast.ready as r
     where r.job_id = p_job_id + v_distance
       and r.queue = p_queue
       and r.priority = p_priority
       and r.run_at >= p_run_at
       and r.run_at <= p_now
       and not r.parked
       and r.crashes < 2
       and r.type = any (p_types);
    if found and not v_is_locked then
      v_free := v_distance;
    else
      v_passed := v_distance;
      if found and v_run_at >= o_run_at then
        o_run_at := v_run_at;
        o_job_id := p_job_id + v_distance;
      end if;
    end if;
    v_distance := case when v_free is null then 2 * v_distance else (v_passed + v_free) / 2 end;
    exit when v_distance > v_furthest or v_free - v_passed <= v_near;
  end loop;
end
$$;
