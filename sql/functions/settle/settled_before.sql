-- settled_before: which completions and failures of a batch this very lease has made already
--   Guard   none.
--   Locks   none.
--   Returns the places of such members, from 1, without those in p_held. The client lost the answer, and asks once more.
--   Notifies nothing.
--   Tested by  test/sql/settle/complete_jobs.test.ts
create or replace function holdfast.settled_before(p_settlements jsonb, p_held integer[])
  returns integer[]
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
begin
  return array(
    select w.place::integer
      from rows from (
        jsonb_to_recordset(p_settlements) as (job_id bigint, token bigint, lease_id uuid, outcome text)
      ) with ordinality as w(job_id, token, lease_id, outcome, place)
     where w.place <> all (p_held)
       and case w.outcome
             when 'complete' then (
               select o.token = w.token and o.lease_id = w.lease_id and o.state = 'completed'
                 from holdfast.outcome as o
                where o.job_id = w.job_id
                limit 1
             )
             when 'fail' then (
               select a.lease_id = w.lease_id and a.verdict = 'failed'
                 from holdfast.attempt as a
                where a.job_id = w.job_id and a.token = w.token
             )
           end
  );
end
$$;
