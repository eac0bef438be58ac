-- place_waiting: makes steps of a pipeline wait for their dependencies; drop_waiting: takes them out of the waiting ones
--   Guard   the jobs are new, or the caller holds their rows in the place that they leave, and drops them there.
--   Locks   none further.
--   Returns nothing.
--   Notifies nothing.
--   Tested by  test/sql/places/places.test.ts
create or replace function holdfast.place_waiting(p_rows holdfast.waiting[]) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into holdfast.waiting select w.* from unnest(p_rows) as w;
end
$$;

create or replace function holdfast.drop_waiting(p_job_ids bigint[]) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set enable_seqscan = off  -- a scan would read the dead rows of a busy table
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
as $$
begin
  delete from holdfast.waiting as w where w.job_id = any (p_job_ids);
end
$$;
