-- count_jobs: how many jobs fit a filter, up to a cap
--   Guard   none.
--   Locks   none.
--   Returns the count, and whether there may be more: it counts no further than 10,000 and for no longer than two seconds.
--   Notifies nothing.
create or replace function holdfast.count_jobs_v1(p_filter jsonb, out count integer, out is_capped boolean)
  language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
begin
  v_found := holdfast.match_jobs(holdfast.read_filter(p_filter), null, 10000, 50000);
  count := cardinality(v_found.ids);
  is_capped := v_found.next is not null;
end
$$;
