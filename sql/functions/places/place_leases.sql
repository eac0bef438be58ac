-- place_leases: makes jobs running; drop_leases: takes them out of the running ones; lease_row: such a row
--   Guard   the jobs are new, or the caller has locked their rows in the place that they leave, and drops them there. A caller of
--           drop_leases that has read the leases without a lock gives the lease ids it has read: a lease of a later claim stays.
--   Locks   drop_leases the lease rows.
--   Returns nothing; drop_leases how many.
--   Notifies nothing.
-- They run with the settings of their callers: a scan would read the dead rows of a busy table.
create or replace function holdfast.place_leases(p_rows holdfast.lease[]) returns void
  language plpgsql volatile
as $$
declare
  v_first constant holdfast.lease := p_rows[1];
begin
  if cardinality(p_rows) = 1 then
    insert into holdfast.lease values (v_first.*);
  else
    insert into holdfast.lease select l.* from unnest(p_rows) as l;
  end if;
end
$$;

create or replace function holdfast.drop_leases(p_job_ids bigint[], p_lease_ids uuid[] default null) returns integer
  language plpgsql volatile
as $$
declare
  v_dropped integer;
begin
  delete from holdfast.lease as l
   where l.job_id = any (p_job_ids)
     and (p_lease_ids is null or l.lease_id = any (p_lease_ids));
  get diagnostics v_dropped = row_count;
  return v_dropped;
end
$$;

-- One attempt further than the ready row.
create or replace function holdfast.lease_row(
  p_ready holdfast.ready, p_token bigint, p_worker text, p_lease_id uuid, p_now timestamptz, p_until timestamptz
)
  returns holdfast.lease
  language sql immutable parallel safe
as $$
  select row(p_ready.job_id, p_ready.run_at, p_token, p_ready.rank, p_now, p_until, p_lease_id, p_ready.priority,
             p_ready.attempts + 1, p_ready.max_attempts, p_ready.crashes, null, p_ready.type, p_ready.queue, p_worker,
             p_ready.key, p_ready.key_policy, null, p_ready.linked)::holdfast.lease
$$;
