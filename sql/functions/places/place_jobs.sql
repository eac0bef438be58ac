-- place_jobs: stores new jobs; job_row: such a row
--   Guard   the caller has checked them, and puts each that is stored into its first place.
--   Locks   none. For a job with a dedupe_id it waits for an open transaction that stores the same.
--   Returns how many are stored: all, or none where the first one's dedupe_id is known.
--   Notifies nothing.
-- A job with a dedupe_id comes alone: "on conflict" makes the insert of many about 8 % slower. One row goes in as values, which
-- takes two thirds of the time of a list; place_ready and place_leases do the same. It runs with the settings of its callers.
create or replace function holdfast.place_jobs(p_rows holdfast.job[]) returns integer
  language plpgsql volatile
as $$
declare
  v_first constant holdfast.job := p_rows[1];
  v_stored integer;
begin
  if v_first.dedupe_id is null and cardinality(p_rows) = 1 then
    insert into holdfast.job overriding system value values (v_first.*);
  elsif v_first.dedupe_id is null then
    insert into holdfast.job overriding system value select j.* from unnest(p_rows) as j;
  else
    insert into holdfast.job overriding system value select j.* from unnest(p_rows) as j
    on conflict (type, dedupe_id) where dedupe_id is not null do nothing;
  end if;
  get diagnostics v_stored = row_count;
  return v_stored;
end
$$;

-- Without settings, as all functions that make rows: PostgreSQL puts the expression into the caller's statement.
create or replace function holdfast.job_row(
  p_id bigint, p_type text, p_queue text, p_priority smallint, p_max_attempts smallint, p_pipeline_id uuid, p_tags text[],
  p_input jsonb, p_now timestamptz, p_trace text, p_key text default null, p_key_policy text default null,
  p_dedupe_id text default null
)
  returns holdfast.job
  language sql immutable parallel safe
as $$
  select row(p_id, p_type, p_queue, p_priority, p_max_attempts, p_key, p_key_policy, p_pipeline_id, p_tags, p_dedupe_id,
             p_input, p_now, p_trace)::holdfast.job
$$;
