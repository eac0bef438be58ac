-- place_ready: makes jobs pending; drop_ready: takes them out of the pending ones; ready_row: such a row
--   Guard   the jobs are new, or the caller holds their rows in the place that they leave, and drops them there.
--   Locks   none. For a coalescing job it waits for an open transaction that makes one of the same key pending.
--   Returns how many are pending now: all, or none where the first one's key has a coalescing job already.
--   Notifies nothing; the caller does.
--   Tested by  test/sql/places/places.test.ts
-- A coalescing job comes alone, as one with a dedupe_id does in place_jobs. place_ready runs with the settings of its callers.
create or replace function holdfast.place_ready(p_rows holdfast.ready[]) returns integer
  language plpgsql volatile
as $$
declare
  v_first constant holdfast.ready := p_rows[1];
  v_placed integer;
begin
  if cardinality(p_rows) = 1 and not v_first.coalescing then
    insert into holdfast.ready values (v_first.*);
  elsif v_first.coalescing then
    insert into holdfast.ready select r.* from unnest(p_rows) as r on conflict (key) where coalescing do nothing;
  else
    insert into holdfast.ready select r.* from unnest(p_rows) as r;
  end if;
  get diagnostics v_placed = row_count;
  return v_placed;
end
$$;

create or replace function holdfast.drop_ready(p_job_ids bigint[]) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node makes a plan expensive enough to be compiled
  set enable_seqscan = off  -- a scan would read the dead rows of a busy table
as $$
begin
  delete from holdfast.ready as r where r.job_id = any (p_job_ids);
end
$$;

-- Neither parked nor un-parked.
create or replace function holdfast.ready_row(
  p_job_id bigint, p_type text, p_queue text, p_priority smallint, p_run_at timestamptz, p_max_attempts smallint,
  p_token bigint default 0, p_key text default null, p_key_policy text default null, p_rank bigint default null,
  p_linked boolean default false, p_attempts smallint default 0::smallint, p_crashes smallint default 0::smallint,
  p_coalescing boolean default false
)
  returns holdfast.ready
  language sql immutable parallel safe
as $$
  select row(p_job_id, p_run_at, p_token, p_rank, p_priority, p_attempts, p_max_attempts, p_crashes, false, p_coalescing,
             p_type, p_queue, p_key, p_key_policy, p_linked, false)::holdfast.ready
$$;
