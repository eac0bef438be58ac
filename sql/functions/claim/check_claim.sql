-- check_claim: refuses a claim that could not be right
--   Guard   READ COMMITTED: the claim locks in one statement and acts in the next, which must see what the lock waited out.
--   Locks   none.
--   Returns nothing; raises WRONG_ISOLATION or INVALID_OPTION.
--   Notifies nothing.
--   Tested by  test/sql/claim/claim_jobs.test.ts
-- It runs with the settings of its callers.
create or replace function holdfast.check_claim(p_worker text, p_queues text[], p_types text[], p_n integer) returns void
  language plpgsql stable
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform holdfast.refuse('WRONG_ISOLATION', 'claims need a READ COMMITTED transaction',
      jsonb_build_object('received', current_setting('transaction_isolation')));
  elsif coalesce(p_worker, '') = '' then
    perform holdfast.refuse('INVALID_OPTION', 'worker must be a non-empty text');
  elsif p_queues is null or p_types is null then
    perform holdfast.refuse('INVALID_OPTION', 'queues and types must be arrays of text');
  elsif p_n is null or p_n not between 1 and 10000 then
    perform holdfast.refuse('INVALID_OPTION', 'n must be between 1 and 10000', jsonb_build_object('received', p_n));
  end if;
end
$$;
