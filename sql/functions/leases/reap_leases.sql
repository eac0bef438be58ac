-- reap_leases: running → pending | failed, where the holder is gone
--   Guard   the lease is over, or its worker is dead; checked again on the locked row. Needs no handler.
--   Locks   key rows in order, lease rows by id, for a final failure in a pipeline the rows of lock_successors, then the dead
--           workers' rows, all skip locked; never waits.
--   Returns the reaped jobs with their new state. The attempt counts and has its row in attempt. A job's crashes count the
--           worker deaths at which it ran: from 2 on it runs alone in quarantine, at 3 it fails.
--   Notifies sleeping workers.
create or replace function holdfast.reap_leases_v1(p_limit integer default 100, p_grace interval default '2 seconds')
  returns table (job_id bigint, state text)
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_dead constant text[] := holdfast.dead_workers(p_grace);
  v_lost bigint[];
  v_keys text[];
  v_crashed bigint[];
  v_expired bigint[];
  v_final bigint[];
  v_errors jsonb[];
begin
  v_lost := array(
    select l.job_id
      from holdfast.lease as l
     where l.locked_until < v_now
        or l.locked_by = any (v_dead)
     limit p_limit
  );
  if v_lost <> '{}' then
    v_keys := array(
      select k.key
        from holdfast.job_key as k
       where k.key = any (array(select l.key from holdfast.lease as l where l.job_id = any (v_lost) and l.key is not null))
       order by k.key
         for update skip locked
    );
    with stale as materialized (
      select l.*, l.locked_by = any (v_dead) as has_crashed
        from holdfast.lease as l
       where l.job_id = any (v_lost)
         and (l.locked_until < v_now or l.locked_by = any (v_dead))
         and (l.key is null or l.key = any (v_keys))
       order by l.job_id
         for update skip locked
    ),
    decided as materialized (
      select s.*, f.is_final, e.error
        from stale as s
       cross join lateral (select s.attempts >= s.max_attempts or s.has_crashed and s.crashes >= 2) as f(is_final)
       cross join lateral (select holdfast.loss_error(s.job_id, s.locked_by, s.has_crashed, s.crashes + 1)) as e(error)
       where not (s.linked and f.is_final)
          or (select h.is_claimed from holdfast.lock_successors(array[s.job_id], array['failed'], true) as h)
    ),
    written as (
      insert into holdfast.attempt (job_id, token, attempt, verdict, lease_id, worker, started_at, ended_at, error)
      select d.job_id, d.token, d.attempts, 'lost', d.lease_id, d.locked_by, d.locked_at, v_now, d.error
        from decided as d
    )
    select array_agg(d.job_id) filter (where d.has_crashed and not d.is_final),
           array_agg(d.job_id) filter (where not d.has_crashed and not d.is_final),
           array_agg(d.job_id) filter (where d.is_final),
           array_agg(d.error) filter (where d.is_final)
      into v_crashed, v_expired, v_final, v_errors
      from decided as d;

    perform holdfast.return_leases(v_crashed, null, 0, 1);
    perform holdfast.return_leases(v_expired, null, 0);
    if v_final is not null then
      perform holdfast.end_leases(v_final, array_fill('failed'::text, array[cardinality(v_final)]), null, v_errors);
    end if;
  end if;

  delete from holdfast.worker as w
   where w.id = any (array(
     select d.id
       from holdfast.worker as d
      where d.id = any (v_dead)
        and not exists (select from holdfast.lease as l where l.locked_by = d.id)
        for update skip locked  -- another reaper deletes it, or the worker sent a heartbeat
   ));
  return query
    select r.id, case when r.id = any (v_final) then 'failed' else 'pending' end
      from unnest(v_crashed || v_expired || v_final) as r(id);
end
$$;

create or replace function holdfast.reap_leases(n integer default 100, grace interval default '2 seconds')
  returns table (job_id bigint, state text)
  language sql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$ select * from holdfast.reap_leases_v1(n, grace) $$;
