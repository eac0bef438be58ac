-- renew_leases: running → running, until later
--   Guard   the caller holds each job's lease, member by member (job id, token, lease id).
--   Locks   lease rows, skip locked: a row that its completion locks counts as renewed, and the others do not wait for it.
--   Returns one row per member: renewed true with the new end, or false with code LEASE_LOST.
--   Notifies nothing.
-- p_only_due: a lease with more than 0.7 of its time left is read and not written.
create or replace function holdfast.renew_leases_v1(p_leases jsonb, p_only_due boolean default false)
  returns table (job_id bigint, renewed boolean, code text, locked_until timestamptz)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_nestloop = off
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_seconds jsonb;
begin
  perform holdfast.check_settlements(p_leases);
  v_seconds := holdfast.lease_seconds_by_type(array(
    select distinct l.type
      from holdfast.lease as l
     where l.job_id = any (array(select w.job_id from jsonb_to_recordset(p_leases) as w(job_id bigint)))
  ));

  with wanted as materialized (
    select w.job_id, w.token, w.lease_id
      from jsonb_to_recordset(p_leases) as w(job_id bigint, token bigint, lease_id uuid)
  )
  update holdfast.lease as l
     set locked_until = v_now + make_interval(secs => (v_seconds ->> l.type)::integer)
   where l.job_id = any (array(
     select h.job_id
       from holdfast.lease as h
       join wanted as w on w.job_id = h.job_id and w.token = h.token and w.lease_id = h.lease_id
      where h.job_id = any (array(select x.job_id from wanted as x))
        and not (p_only_due and h.locked_until > v_now + make_interval(secs => 0.7 * (v_seconds ->> h.type)::integer))
        for update of h skip locked
   ));

  return query
    select w.job_id, l.job_id is not null, case when l.job_id is null then 'LEASE_LOST' end, l.locked_until
      from rows from (
        jsonb_to_recordset(p_leases) as (job_id bigint, token bigint, lease_id uuid)
      ) with ordinality as w(job_id, token, lease_id, place)
      left join (
        select h.job_id, h.token, h.lease_id, h.locked_until
          from holdfast.lease as h
         where h.job_id = any (array(select x.job_id from jsonb_to_recordset(p_leases) as x(job_id bigint)))
      ) as l on l.job_id = w.job_id and l.token = w.token and l.lease_id = w.lease_id
     order by w.place;
end
$$;

create or replace function holdfast.renew_leases(leases jsonb)
  returns table (job_id bigint, renewed boolean, code text, locked_until timestamptz)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.renew_leases_v1(leases) $$;
