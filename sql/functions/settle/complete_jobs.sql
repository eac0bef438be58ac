-- complete_jobs: running → completed | pending | failed | cancelled, one function per outcome
--   Guard   as settle_jobs.
--   Locks   as settle_jobs.
--   Returns one row per member, in order: settled true, or false with code LEASE_LOST. Repeating a completion or a failure that
--           this very lease has made is true again, for a client that lost the answer.
--   Notifies as settle_jobs.
-- Every member has job_id, token and lease_id, and by function:
-- complete_jobs: output.
-- fail_jobs: error, optionally delay_ms and permanent. Pending after delay_ms, else after the backoff of its type; failed when no
-- attempt is left or when permanent. Each failure makes a row in attempt.
-- cancel_jobs: reason. Cancelled, by the handler's own decision.
-- snooze_jobs: delay_ms. Pending after it; the attempt is given back.
-- suspend_jobs: waits: [{kind: sleep | event, name, delay_ms, event}]; delay_ms of an event is its timeout. Pending until the
-- first wait is over, and due at once if its event is there; the attempt is given back. A wait that is known keeps its first end.
-- release_jobs: nothing more. Pending at its old place, so it can be claimed at once; the attempt is given back.
create or replace function holdfast.complete_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.settle_as(settlements, 'complete') $$;

create or replace function holdfast.fail_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.settle_as(settlements, 'fail') $$;

create or replace function holdfast.cancel_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.settle_as(settlements, 'cancel') $$;

create or replace function holdfast.snooze_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.settle_as(settlements, 'snooze') $$;

create or replace function holdfast.suspend_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.settle_as(settlements, 'suspend') $$;

create or replace function holdfast.release_jobs(settlements jsonb)
  returns table (job_id bigint, settled boolean, code text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.settle_as(settlements, 'release') $$;

create or replace function holdfast.settle_as(p_settlements jsonb, p_outcome text)
  returns table (job_id bigint, settled boolean, code text)
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_members jsonb;
  v_lost integer[];
begin
  perform holdfast.check_settlements(p_settlements);
  v_members := (
    select jsonb_agg(m.member || jsonb_build_object('outcome', p_outcome) order by m.place)
      from jsonb_array_elements(p_settlements) with ordinality as m(member, place)
  );
  v_lost := (select s.lost from holdfast.settle_jobs_v1(coalesce(v_members, '[]')) as s);
  return query
    select w.job_id, l.place is null, case when l.place is not null then 'LEASE_LOST' end
      from rows from (jsonb_to_recordset(p_settlements) as (job_id bigint)) with ordinality as w(job_id, place)
      left join unnest(v_lost) as l(place) on l.place = w.place
     order by w.place;
end
$$;
