-- prune_jobs: finished jobs older than the retention → gone
--   Guard   only whole days before the retention; a job that was retried meanwhile lives on, and a pipeline goes as a whole.
--   Locks   job rows, skip locked; a day's partition for the moment of its drop, given up after a second; key rows, skip locked.
--   Returns how many jobs went; 0: nothing is left to prune now, and the days before the retention are dropped, except those
--           with outcomes of a pipeline that lives.
--   Notifies nothing.
-- The wide rows of job are deleted in batches, the day of outcomes is dropped whole. Old ticks of schedules and events go too.
create or replace function holdfast.prune_jobs_v1(p_keep interval, p_limit integer default 10000) returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set lock_timeout = '1s'
  set timezone = 'UTC'
as $$
declare
  v_before constant timestamptz := date_trunc('day', holdfast.now() - p_keep);
  v_day text;
  v_ids bigint[];
  v_is_needed boolean;
begin
  if p_keep < interval '0' or p_limit not between 1 and 100000 then
    perform holdfast.refuse('INVALID_OPTION', 'keep must not be negative, limit between 1 and 100000',
      jsonb_build_object('keep', p_keep, 'limit', p_limit));
  elsif not pg_try_advisory_xact_lock(hashtextextended('holdfast.prune', 7245904)) then
    return 0;
  end if;

  delete from holdfast.schedule_tick as t
   where t.ctid = any (array(
     select o.ctid
       from holdfast.schedule as s
      cross join lateral (
        select p.ctid, p.at from holdfast.schedule_tick as p where p.job_key = s.job_key and p.tick < v_before order by p.tick
         limit p_limit
      ) as o
      where o.at < v_before
      limit p_limit
   ));

  delete from holdfast.event as e
   where e.name = any (array(select o.name from holdfast.event as o where o.at < v_before order by o.at limit p_limit));

  v_ids := array(
    select j.id
      from holdfast.job as j
     where j.id in (select o.job_id from holdfast.outcome as o where o.finished_at < v_before)
       and (select true from holdfast.pipeline as p where p.id = j.pipeline_id) is null
     limit p_limit
       for update skip locked
  ) || holdfast.prune_pipelines(v_before, p_limit);
  -- Locked in the statement before, so that this one sees a retry that was under way.
  delete from holdfast.job as j
   where j.id = any (v_ids)
     and exists (select from holdfast.outcome as o where o.job_id = j.id and o.finished_at < v_before);
  delete from holdfast.attempt as a where a.job_id = any (v_ids)
     and not exists (select from holdfast.job as j where j.id = a.job_id);
  delete from holdfast.job_log as g where g.job_id = any (v_ids)
     and not exists (select from holdfast.job as j where j.id = g.job_id);
  delete from holdfast.durable_step as s where s.job_id = any (v_ids)
     and not exists (select from holdfast.job as j where j.id = s.job_id);
  delete from holdfast.outcome_default as o where o.job_id = any (v_ids)
     and not exists (select from holdfast.job as j where j.id = o.job_id);
  if cardinality(v_ids) > 0 then
    return cardinality(v_ids);
  end if;

  for v_day in
    select c.relname
      from pg_catalog.pg_inherits as i
      join pg_catalog.pg_class as c on c.oid = i.inhrelid
     where i.inhparent = 'holdfast.outcome'::regclass
       and c.relname ~ '^outcome_\d{8}$'
       and to_date(right(c.relname, 8), 'YYYYMMDD') < v_before::date
  loop
    -- A job that is still there belongs to a pipeline that lives, or is locked by one who may be about to retry it.
    execute format('select exists (select from holdfast.%I as o where (select true from holdfast.job as j where j.id = o.job_id))',
      v_day) into v_is_needed;
    continue when v_is_needed;
    execute format('drop table holdfast.%I', v_day);
  end loop;
  perform holdfast.prune_keys(p_limit);
  return 0;
end
$$;

create or replace function holdfast.prune_jobs(keep interval, n integer default 10000) returns integer
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select holdfast.prune_jobs_v1(keep, n) $$;

-- Deletes keys whose jobs are all gone; key_floor remembers their fence, so that a later key of that name starts above it.
create or replace function holdfast.prune_keys(p_limit integer) returns integer
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys text[];
begin
  v_keys := array(
    select k.key
      from holdfast.job_key as k
     where k.holder is null
       and not exists (select from holdfast.job as j where j.key = k.key)
     limit p_limit
       for update skip locked
  );
  with gone as (
    delete from holdfast.job_key as k
     where k.key = any (v_keys)
       and not exists (select from holdfast.job as j where j.key = k.key)
    returning k.token
  )
  update holdfast.key_floor as f
     set token = greatest(f.token, (select max(g.token) from gone as g));
  return cardinality(v_keys);
end
$$;
