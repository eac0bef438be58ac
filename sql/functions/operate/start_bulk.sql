-- start_bulk: stores a bulk operation on all jobs of a filter; cancel_bulk: ends one before its next step
--   Guard   the filter names states, and only states that allow the operation: final ones to retry, others to cancel.
--           cancel_bulk: the operation is open.
--   Locks   none; cancel_bulk the operation's row, and waits for a step in progress.
--   Returns the operation's row, with the jobs that match now counted up to 10,000; raises INVALID_OPTION.
--           cancel_bulk returns true, or false when it was over already; raises JOB_NOT_FOUND.
--   Notifies nothing; each worker polls for open operations about once a second.
-- Spans of time become moments here, so that "the last hour" stays the same hour until the operation is done.
create or replace function holdfast.start_bulk_v1(
  p_operation text,
  p_filter jsonb,
  p_reason text default null,
  p_actor text default null
)
  returns setof holdfast.bulk_operation
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_filter constant holdfast.job_filter := holdfast.read_filter(p_filter);
  v_allowed constant text[] := case p_operation
    when 'retry' then array['completed', 'failed', 'cancelled', 'superseded']
    when 'cancel' then array['pending', 'waiting', 'running']
  end;
  v_row holdfast.bulk_operation;
begin
  if v_allowed is null then
    perform holdfast.refuse('INVALID_OPTION', 'operation must be retry or cancel', jsonb_build_object('received', p_operation));
  elsif v_filter.states is null or v_filter.states = '{}' or not v_filter.states <@ v_allowed then
    perform holdfast.refuse('INVALID_OPTION', format('the filter must name states to %s: %s', p_operation,
      array_to_string(v_allowed, ', ')), jsonb_build_object('received', v_filter.states));
  end if;

  insert into holdfast.bulk_operation (operation, filter, reason, asked_by, asked_at, expected, expected_is_capped)
  select p_operation, jsonb_strip_nulls(to_jsonb(v_filter)), left(p_reason, 1000), coalesce(p_actor, session_user),
         holdfast.now(), c.count, c.is_capped
    from holdfast.count_jobs_v1(p_filter) as c
  returning * into v_row;
  perform holdfast.audit_operation(p_actor, 'start_bulk', null,
    jsonb_build_object('bulk', v_row.id, 'operation', p_operation, 'filter', v_row.filter, 'expected', v_row.expected));
  return next v_row;
end
$$;

create or replace function holdfast.cancel_bulk_v1(p_id bigint, p_actor text default null) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update holdfast.bulk_operation as b
     set state = 'cancelled', finished_at = holdfast.now()
   where b.id = p_id
     and b.state = 'open';
  if found then
    perform holdfast.audit_operation(p_actor, 'cancel_bulk', null, jsonb_build_object('bulk', p_id));
    return true;
  elsif not exists (select from holdfast.bulk_operation as b where b.id = p_id) then
    perform holdfast.refuse('JOB_NOT_FOUND', format('there is no bulk operation %s', p_id), jsonb_build_object('bulk', p_id));
  end if;
  return false;
end
$$;
