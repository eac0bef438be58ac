-- park_backlog: parks the jobs that wait for held keys: of p_met all, of the rest of their backlog up to 1,000
--   Guard   the caller has locked the rows of p_keys and the ready rows p_met.
--   Locks   ready rows, skip locked; never waits.
--   Returns the held keys of p_met, whose jobs are parked.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_batch.test.ts
create or replace function holdfast.park_backlog(p_keys text[], p_met bigint[], p_now timestamptz) returns text[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
  set enable_seqscan = off
as $$
declare
  v_held text[];
begin
  with met as materialized (
    select distinct r.key from holdfast.ready as r where r.job_id = any (p_met) and r.key_policy <> 'supersede'
  )
  select array_agg(m.key)
    into v_held
    from met as m
   where m.key = any (p_keys)
     and exists (select from holdfast.job_key as k where k.key = m.key and k.holder is not null);
  if v_held is null then
    return '{}';
  end if;

  update holdfast.ready as r
     set parked = true, unparked = false
   where r.job_id = any (array(
     select m.job_id
       from holdfast.ready as m
      where m.job_id = any (p_met)
        and m.key = any (v_held)
        and not m.parked
        and m.run_at <= p_now
        and m.key_policy <> 'supersede'
   ) || array(
     select w.job_id
       from holdfast.ready as w
      where w.key = any (v_held)
        and not w.parked
        and w.run_at <= p_now
        and w.key_policy <> 'supersede'
      limit 1000
        for update skip locked
   ));
  return v_held;
end
$$;
