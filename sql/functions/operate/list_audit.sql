-- list_audit: who did what by hand, newest first
--   Guard   none.
--   Locks   none.
--   Returns up to p_limit entries before the id p_before; of a job, an actor or an action where these are given. Each row also
--           says where the next page begins (null: there is none); an empty page is one row of that. At most 10,000
--           entries are read for a page.
--   Notifies nothing.
create or replace function holdfast.list_audit_v1(
  p_job_id bigint default null, p_actor text default null, p_action text default null, p_before bigint default null,
  p_limit integer default 50
)
  returns table (id bigint, at timestamptz, actor text, action text, job_id bigint, details jsonb, next bigint)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan
as $$
declare
  v_looks constant integer := 10000;
  v_before constant bigint := coalesce(p_before, 9223372036854775807);
  v_limit constant integer := least(greatest(p_limit, 1), 200);
  v_found bigint[];
  v_looked integer;
  v_last bigint;
begin
  with looked as materialized (
    select a.id, (p_actor is null or a.actor = p_actor) and (p_action is null or a.action = p_action) as fits
      from holdfast.audit as a
     where a.id < v_before
       and (p_job_id is null or a.job_id = p_job_id)
     order by a.id desc
     limit case when num_nonnulls(p_actor, p_action) = 0 then v_limit else v_looks end
  )
  select (array_agg(k.id order by k.id desc) filter (where k.fits))[:v_limit], count(*), min(k.id)
    into v_found, v_looked, v_last
    from looked as k;

  next := case
    when cardinality(v_found) = v_limit then v_found[v_limit]
    when v_looked = v_looks then v_last
  end;
  return query
    select e.id, e.at, e.actor, e.action, e.job_id, e.details, list_audit_v1.next
      from (select) as one
      left join lateral (select b.* from holdfast.audit as b where b.id = any (v_found)) as e on true
     order by e.id desc;
end
$$;
