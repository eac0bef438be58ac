-- check_label: refuses the name of a step or an event that cannot be stored
--   Guard   none.
--   Locks   none.
--   Returns nothing; raises INVALID_OPTION.
--   Notifies nothing.
--   Tested by  test/sql/durable_steps/store_durable_step.test.ts
create or replace function holdfast.check_label(p_what text, p_name text)
  returns void
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(octet_length(p_name), 0) not between 1 and 200 or p_name ~ '[[:cntrl:]]' then
    perform holdfast.refuse('INVALID_OPTION',
      format('the name of %s must be a text of 1 to 200 bytes without control characters', p_what),
      jsonb_build_object('received', left(p_name, 200)));
  end if;
end
$$;
