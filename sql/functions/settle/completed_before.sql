-- completed_before: which completions of a batch this very lease has made already, for a client that lost the answer
--   Guard   none.
--   Locks   none.
--   Returns the places of such members, from 1, without those in p_done.
--   Notifies nothing.
--   Tested by  test/sql/settle/complete_jobs.test.ts
create or replace function holdfast.completed_before(p_settlements jsonb, p_done integer[])
  returns integer[]
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_nestloop = on  -- a few members against the index of each day's outcomes
as $$
begin
  return array(
    select w.place::integer
      from rows from (
        jsonb_to_recordset(p_settlements) as (job_id bigint, token bigint, lease_id uuid)
      ) with ordinality as w(job_id, token, lease_id, place)
     where w.place <> all (p_done)
       and exists (
         select
           from holdfast.outcome as o
          where o.job_id = w.job_id
            and o.token = w.token
            and o.lease_id = w.lease_id
            and o.state = 'completed'
       )
  );
end
$$;
