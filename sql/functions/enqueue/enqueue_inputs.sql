-- enqueue_inputs: none → pending for jobs that differ in nothing but their input
--   Guard   as place_inputs: one bad input refuses all.
--   Locks   none.
--   Returns the ids, in the order of the inputs.
--   Notifies workers, as enqueue_jobs does.
-- p_common is the type and the options of them all. Jobs that may meet others of their kind, by key or dedupe_id, go through
-- enqueue_jobs.
create or replace function holdfast.enqueue_inputs_v1(p_inputs jsonb, p_common jsonb, p_wake text default 'always')
  returns bigint[]
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
begin
  return (holdfast.place_inputs(p_inputs, p_common, p_wake, null, null, null)).ids;
end
$$;
