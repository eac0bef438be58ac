-- refuse: raises one of the constant refusals
--   Guard   none.
--   Locks   none.
--   Gives   nothing; raises the SQLSTATE of the code, with the code and what was received as JSON in DETAIL.
--   Tells   nothing.
--   Tested by  test/sql/refusals.test.ts
create or replace function holdfast.refuse(p_code text, p_message text, p_details jsonb default '{}')
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = case p_code
      when 'LEASE_LOST' then 'JH001'
      when 'JOB_NOT_FOUND' then 'JH002'
      when 'WRONG_STATE' then 'JH003'
      when 'INVALID_INPUT' then 'JH004'
      when 'INVALID_OPTION' then 'JH005'
      when 'WRONG_ISOLATION' then 'JH006'
      when 'NOT_STALE' then 'JH007'
    end,
    message = p_code || ': ' || p_message,
    detail = (jsonb_build_object('code', p_code) || p_details)::text;
end
$$;
