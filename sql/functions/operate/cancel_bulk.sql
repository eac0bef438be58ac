-- cancel_bulk: ends a bulk operation before its next step
--   Guard   it is open.
--   Locks   the operation's row; waits for a step in progress.
--   Returns true, or false when it was over already; raises JOB_NOT_FOUND when there is no such operation.
--   Notifies nothing.
create or replace function holdfast.cancel_bulk_v1(p_id bigint, p_actor text default null)
  returns boolean
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
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
