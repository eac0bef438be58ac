-- lock_successors: locks the waiting jobs and pipelines that change when steps end
--   Guard   the caller has ended the jobs or has their locks; p_states, beside p_job_ids, is how they end.
--   Locks   waiting rows in order of the id: the jobs' own, their successors', and all of a pipeline that this end stops;
--           then, by id, the rows of these pipelines and of those that compensate.
--   Returns the pipelines to stop and the locked ones that compensate. With p_skips it never waits: is_claimed false means that
--           another session has one of the rows, and the caller leaves the jobs alone for now.
--   Notifies nothing.
--   Tested by  test/sql/pipelines/unblock_successors.test.ts
create or replace function holdfast.lock_successors(
  p_job_ids bigint[], p_states text[], p_skips boolean default false,
  out stopping uuid[], out compensating uuid[], out is_claimed boolean
)
  language plpgsql volatile
  set search_path = pg_catalog, pg_temp
  set jit = off  -- before PostgreSQL 18 a switched-off plan node looks dear enough to be compiled at every call
  set enable_seqscan = off
as $$
declare
  v_waiting bigint[];
  v_pipelines uuid[] := '{}';
begin
  select coalesce(array_agg(distinct p.id) filter (
           where w.state <> 'completed' and p.on_failure <> 'continue' and p.compensated_at is null), '{}'),
         coalesce(array_agg(distinct p.id) filter (where p.on_failure = 'compensate' and p.compensated_at is null), '{}')
    into stopping, compensating
    from unnest(p_job_ids, p_states) as w(job_id, state)
   cross join lateral (select b.pipeline_id from holdfast.job as b where b.id = w.job_id limit 1) as j
   cross join lateral (select b.* from holdfast.pipeline as b where b.id = j.pipeline_id limit 1) as p;
  v_waiting := p_job_ids
    || array(select d.job_id from holdfast.dependency as d where d.depends_on = any (p_job_ids))
    || array(select w.job_id from holdfast.waiting as w where w.pipeline_id = any (stopping));
  if stopping <> '{}' or compensating <> '{}' then
    v_pipelines := array(select distinct p.id from unnest(stopping || compensating) as p(id));
  end if;

  is_claimed := true;
  if p_skips then
    is_claimed := (select count(*) from holdfast.waiting as w where w.job_id = any (v_waiting)) = cardinality(array(
        select w.job_id from holdfast.waiting as w where w.job_id = any (v_waiting) order by w.job_id for update skip locked
      ))
      and cardinality(v_pipelines) = cardinality(array(
        select p.id from holdfast.pipeline as p where p.id = any (v_pipelines) order by p.id for update skip locked
      ));
  else
    perform from holdfast.waiting as w where w.job_id = any (v_waiting) order by w.job_id for update;
    if v_pipelines <> '{}' then
      perform from holdfast.pipeline as p where p.id = any (v_pipelines) order by p.id for update;
    end if;
  end if;
end
$$;
