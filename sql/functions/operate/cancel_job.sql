-- cancel_job: pending | waiting | running → cancelled
--   Guard   the job is in one of these states; anyone with the right may cancel, a lease is not needed.
--   Locks   the key row, then the ready or lease row; for a job of a pipeline then as unblock_successors. Waits for short
--           transitions of the same job and of what its pipeline decides about.
--   Returns the state it was cancelled in; raises JOB_NOT_FOUND, or WRONG_STATE when it is final already.
--   Notifies a running job's worker by its next renewal: from now on every write of it is refused; workers of jobs that came
--           after it in a pipeline that goes on.
create or replace function holdfast.cancel_job_v1(p_job_id bigint, p_reason text default null, p_actor text default null)
  returns text
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant jsonb := jsonb_build_object('name', 'Cancelled',
    'message', left(coalesce(p_reason, 'cancelled on request'), 1000));
  v_key text;
  v_state text;
  v_ready holdfast.ready;
  v_waiting holdfast.waiting;
begin
  select j.key into v_key from holdfast.job as j where j.id = p_job_id;
  if not found then
    perform holdfast.refuse('JOB_NOT_FOUND', format('there is no job %s', p_job_id), jsonb_build_object('job_id', p_job_id));
  end if;
  perform from holdfast.job_key as k where k.key = v_key for update;

  for v_try in 1..100 loop  -- a job that is just being claimed or returned is met in its next place
    select r.* into v_ready from holdfast.ready as r where r.job_id = p_job_id for update;
    if found then
      v_state := 'pending';
      perform holdfast.drop_ready(array[p_job_id]);
      perform holdfast.place_outcomes(array[holdfast.outcome_row(v_ready, 'cancelled', holdfast.now(), v_error)]);
      -- It may have been the one that its key's parked jobs wait behind.
      if exists (select from holdfast.job_key as k where k.key = v_key and k.holder is null) then
        perform holdfast.free_keys(array[v_key], '{}');
      end if;
      if v_ready.linked then
        perform holdfast.unblock_successors(array[p_job_id], array['cancelled'], 'always');
      end if;
      exit;
    end if;

    perform from holdfast.job_key as k where k.key = v_key for update;  -- made, perhaps, by a claim that was just waited for
    perform from holdfast.lease as l where l.job_id = p_job_id for update;
    if found then
      v_state := 'running';
      perform holdfast.end_leases(array[p_job_id], array['cancelled'], null, array[v_error], 'always');
      exit;
    end if;

    if exists (select from holdfast.waiting as w where w.job_id = p_job_id) then
      begin
        perform from holdfast.lock_successors(array[p_job_id], array['cancelled']);
        select w.* into strict v_waiting from holdfast.waiting as w where w.job_id = p_job_id;
        perform holdfast.drop_waiting(array[p_job_id]);
        perform holdfast.place_outcomes(array[holdfast.outcome_row(v_waiting, 'cancelled', holdfast.now(), v_error)]);
        perform holdfast.unblock_successors(array[p_job_id], array['cancelled'], 'always');
        v_state := 'waiting';
        exit;
      exception
        when no_data_found then
          null;  -- it has just moved on: with this block go its locks, which nobody may hold who waits for a lease
      end;
    end if;

    v_state := holdfast.state_of(p_job_id);
    if v_state not in ('pending', 'waiting', 'running') then
      perform holdfast.refuse('WRONG_STATE', format('job %s is %s and cannot be cancelled', p_job_id, v_state),
        jsonb_build_object('job_id', p_job_id, 'state', v_state));
    end if;
    v_state := null;
  end loop;

  if v_state is null then
    perform holdfast.refuse('WRONG_STATE', format('job %s is in motion; try again', p_job_id),
      jsonb_build_object('job_id', p_job_id));
  end if;
  perform holdfast.audit_operation(p_actor, 'cancel', p_job_id, jsonb_build_object('from', v_state, 'reason', p_reason));
  return v_state;
end
$$;

create or replace function holdfast.cancel_job(job_id bigint, reason text default null, actor text default null) returns text
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.cancel_job_v1(job_id, reason, actor) $$;
