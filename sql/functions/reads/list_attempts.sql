-- list_attempts: the failed and lost attempts of a job, newest first
--   Guard   none.
--   Locks   none.
--   Returns up to p_limit rows of attempts before the token p_before.
--   Notifies nothing.
create or replace function holdfast.list_attempts_v1(p_job_id bigint, p_before bigint default null, p_limit integer default 100)
  returns setof holdfast.attempt
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select a.*
    from holdfast.attempt as a
   where a.job_id = p_job_id
     and a.token < coalesce(p_before, 9223372036854775807)
   order by a.token desc
   limit least(greatest(p_limit, 1), 200)
$$;
