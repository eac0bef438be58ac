-- work_bulk: does one step of the oldest open bulk operation
--   Guard   one worker at a time per operation; the position moves in the transaction of the step, so a step that fails is done
--           again and a step that is done is not.
--   Locks   the operation's row, skip locked; then what the operation locks, job by job, in the order of sql/README.md.
--   Returns the operation after the step; none when no operation is open, or other workers have all of them.
--   Notifies as the operation on each job.
-- Each job has its own row in audit. Jobs that have left the filter's states meanwhile are skipped.
create or replace function holdfast.work_bulk_v1(p_limit integer default 100) returns setof holdfast.bulk_operation
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_row holdfast.bulk_operation;
  v_found record;
  v_id bigint;
begin
  select b.* into v_row from holdfast.bulk_operation as b where b.state = 'open' order by b.id limit 1 for update skip locked;
  if not found then
    return;
  end if;
  v_found := holdfast.match_jobs(holdfast.read_filter(v_row.filter), v_row.position, least(greatest(p_limit, 1), 1000));

  for v_id in
    select w.id
      from unnest(v_found.ids) as w(id)
     cross join lateral (select b.key from holdfast.job as b where b.id = w.id limit 1) as j
     order by j.key nulls first, w.id
  loop
    begin
      if v_row.operation = 'retry' then
        perform holdfast.retry_job_v1(v_id, v_row.asked_by);
      else
        perform holdfast.cancel_job_v1(v_id, v_row.reason, v_row.asked_by);
      end if;
      v_row.done := v_row.done + 1;
    exception
      when sqlstate 'JH002' or sqlstate 'JH003' then
        v_row.skipped := v_row.skipped + 1;
      when deadlock_detected or lock_not_available or query_canceled then
        raise;  -- the whole step is done again
      when others then
        v_row.failed := v_row.failed + 1;
        v_row.error := jsonb_build_object('name', sqlstate, 'message', left(sqlerrm, 1000), 'job_id', v_id);
    end;
  end loop;

  return query
    update holdfast.bulk_operation as b
       set done = v_row.done,
           skipped = v_row.skipped,
           failed = v_row.failed,
           error = v_row.error,
           position = v_found.next,
           state = case when v_found.next is null then 'completed' else 'open' end,
           finished_at = case when v_found.next is null then holdfast.now() end
     where b.id = v_row.id
    returning b.*;
end
$$;
