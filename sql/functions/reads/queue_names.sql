-- queue_names: the queues that anyone has named, in order
--   Guard   none.
--   Locks   none.
--   Returns up to p_n names after p_after: of pending, waiting and running jobs, of workers, types and pauses.
--   Notifies nothing.
--   Tested by  test/sql/reads/list_queues.test.ts
-- Pending jobs are not read for it: each step asks their indexes for the next name.
create or replace function holdfast.queue_names(p_after text, p_n integer)
  returns text[]
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
declare
  v_known constant text[] := array(
    select q.name from holdfast.queue as q where q.name > p_after
    union
    select t.queue from holdfast.job_type as t where t.queue > p_after
    union
    select u.name from holdfast.worker as w cross join lateral unnest(w.queues) as u(name) where u.name > p_after
    union
    select l.queue from (select h.queue from holdfast.lease as h limit 10001) as l where l.queue > p_after
  );
  v_names text[] := '{}';
  v_last text := p_after;
begin
  while cardinality(v_names) < p_n loop
    v_last := least(
      (select r.queue from holdfast.ready as r where r.queue > v_last and not r.parked and r.crashes < 2 order by r.queue limit 1),
      (select r.queue from holdfast.ready as r where r.queue > v_last and not r.parked and r.crashes >= 2 order by r.queue limit 1),
      (select r.queue from holdfast.ready as r where r.queue > v_last and r.parked order by r.queue limit 1),
      (select w.queue from holdfast.waiting as w where w.queue > v_last order by w.queue limit 1),
      (select min(k.name) from unnest(v_known) as k(name) where k.name > v_last)
    );
    exit when v_last is null;
    v_names := v_names || v_last;
  end loop;
  return v_names;
end
$$;
