-- refuse: raises one of the constant refusals
--   Guard   none.
--   Locks   none.
--   Returns nothing; raises the SQLSTATE of the code, with the code and what was received as JSON in DETAIL.
--   Notifies nothing.
--   Tested by  test/sql/shared/refusals.test.ts
create or replace function holdfast.refuse(p_code text, p_message text, p_details jsonb default '{}') returns void
  language plpgsql set search_path = pg_catalog, pg_temp
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
      when 'JOB_LOCKED' then 'JH011'
      when 'JOB_NOT_DUE' then 'JH012'
      when 'JOB_DISABLED' then 'JH013'
      when 'JOB_UNKNOWN' then 'JH014'
      when 'PIPELINE_NOT_FOUND' then 'JH021'
      when 'PIPELINE_CYCLE' then 'JH022'
      when 'UNKNOWN_STEP' then 'JH023'
      when 'DUPLICATE_STEP' then 'JH024'
      when 'PIPELINE_TOO_LARGE' then 'JH025'
    end,
    -- Those of schedules say nothing but their constant.
    message = case when p_message = lower(p_code) then p_message else p_code || ': ' || p_message end,
    detail = (jsonb_build_object('code', p_code) || p_details)::text;
end
$$;
