-- place_ready: makes jobs pending
--   Guard   the jobs are new, or the caller holds their rows in the place that they leave, and drops them there.
--   Locks   none. For a coalescing job it waits for an open transaction that makes one of the same key pending.
--   Returns how many are pending now: all, or none where the first one's key has a coalescing job already.
--   Notifies nothing; the caller does.
--   Tested by  test/sql/places/places.test.ts
-- A coalescing job comes alone, as one with a dedupe_id does in place_jobs.
create or replace function holdfast.place_ready(p_rows holdfast.ready[])
  returns integer
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_placed integer;
begin
  if p_rows[1].coalescing then
    insert into holdfast.ready select r.* from unnest(p_rows) as r on conflict (key) where coalescing do nothing;
  else
    insert into holdfast.ready select r.* from unnest(p_rows) as r;
  end if;
  get diagnostics v_placed = row_count;
  return v_placed;
end
$$;
