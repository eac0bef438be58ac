-- ready_steps: waiting → pending
--   Guard   the caller has deleted the jobs from their former place; all their dependencies have ended.
--   Locks   none.
--   Returns nothing; the jobs are due. A job with a key is now the newest of its key.
--   Notifies nothing.
--   Tested by  test/sql/pipelines/unblock_successors.test.ts
create or replace function holdfast.ready_steps(p_job_ids bigint[], p_tokens bigint[])
  returns void
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
begin
  perform holdfast.place_ready(array(
    select holdfast.ready_row(w.job_id, j.type, j.queue, j.priority, v_now, j.max_attempts, w.token, j.key, j.key_policy,
                              case when j.key is not null then nextval('holdfast.job_id_seq') end, true)
      from unnest(p_job_ids, p_tokens) as w(job_id, token)
     cross join lateral (select b.* from holdfast.job as b where b.id = w.job_id limit 1) as j
  ));
end
$$;
