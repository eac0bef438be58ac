-- read_inputs: new jobs that differ in nothing but their input, as rows
--   Guard   the options and every input are checked; one bad input refuses all.
--   Locks   none.
--   Returns the rows for place_jobs and place_ready and the ids, in the order of the inputs; when and in which queue they are due.
--   Notifies nothing.
--   Tested by  test/sql/enqueue/enqueue_inputs.test.ts
-- Without settings of its own: it runs under its callers', once per call.
create or replace function holdfast.read_inputs(
  p_inputs jsonb,
  p_common jsonb,
  p_now timestamptz,
  out ids bigint[],
  out jobs holdfast.job[],
  out ready holdfast.ready[],
  out queue text,
  out run_at timestamptz
)
  language plpgsql volatile
as $$
declare
  v_type constant text := p_common ->> 'type';
  v_common record;
begin
  perform holdfast.check_inputs(p_inputs, p_common);
  v_common := holdfast.read_common(v_type, p_common, p_now);
  queue := v_common.queue;
  run_at := v_common.run_at;
  select coalesce(array_agg(i.id), '{}'),
         array_agg(holdfast.job_row(i.id, v_type, v_common.queue, v_common.priority, v_common.max_attempts,
                                    v_common.pipeline_id, v_common.tags, i.value, p_now, v_common.trace)),
         array_agg(holdfast.ready_row(i.id, v_type, v_common.queue, v_common.priority, v_common.run_at, v_common.max_attempts))
    into ids, jobs, ready
    from (select nextval('holdfast.job_id_seq') as id, e.value from jsonb_array_elements(p_inputs) as e(value)) as i;
end
$$;
