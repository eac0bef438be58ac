-- park_backlog: jobs that wait for held keys go out of the way of claims: of those that were met all, and up to p_most of the others
--   Guard   the caller has locked the key rows and found them held, and the ready rows p_met.
--   Locks   ready rows, skip locked; never waits.
--   Returns nothing.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_batch.test.ts
create or replace function holdfast.park_backlog(p_keys text[], p_met bigint[], p_most integer, p_now timestamptz)
  returns void
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  update holdfast.ready as r
     set parked = true, unparked = false
   where r.job_id = any (array(
     select m.job_id
       from holdfast.ready as m
      where m.job_id = any (p_met)
        and m.key = any (p_keys)
        and not m.parked
        and m.run_at <= p_now
        and m.key_policy <> 'supersede'
   ) || array(
     select w.job_id
       from holdfast.ready as w
      where w.key = any (p_keys)
        and not w.parked
        and w.run_at <= p_now
        and w.key_policy <> 'supersede'
      limit p_most
        for update skip locked
   ));
end
$$;
