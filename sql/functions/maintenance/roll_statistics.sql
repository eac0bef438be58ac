-- roll_statistics: adds what has ended since the last time to the statistics
--   Guard   one at a time, others return at once. The mark moves in the transaction that counts: a crash neither loses nor
--           doubles anything. A span is counted when all transactions that could still add to it are over.
--   Locks   statistics_mark, skip locked; rows of statistics_minute.
--   Returns true when the next call has more to count.
--   Notifies nothing.
-- An outcome has the moment it was written, not the moment its transaction committed. So a call stores the time and its own
-- transaction number: what was written before has a lower number, and can all be read once no lower number is open. A
-- transaction may delay the statistics for five minutes; what it settled before is then missing in them. Attempts store their
-- time shortly before their transaction has a number: hence the margin.
create or replace function holdfast.roll_statistics_v1() returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'
as $$
declare
  v_now constant timestamptz := holdfast.now();
  v_margin constant interval := '5 seconds';
  v_patience constant interval := '5 minutes';
  v_keep constant interval := '30 days';
  v_mark holdfast.statistics_mark;
  v_sure_to timestamptz;
begin
  if pg_current_xact_id_if_assigned() is not null then
    perform holdfast.refuse('INVALID_OPTION', 'statistics are counted in a transaction of their own', '{}');
  end if;
  if not holdfast.statistics_are_due() then
    return false;  -- another worker has just done it: however many there are, one writes
  end if;
  insert into holdfast.statistics_mark (counted_to, folded_to)
  select date_trunc('day', v_now - v_keep), date_trunc('day', v_now - v_keep)
   where not exists (select from holdfast.statistics_mark)
  on conflict do nothing;
  select m.* into v_mark from holdfast.statistics_mark as m for update skip locked;
  if not found then
    return false;
  end if;

  if v_mark.probe_xid <= pg_snapshot_xmin(pg_current_snapshot()) or v_mark.probe_at < v_now - v_patience then
    v_sure_to := v_mark.probe_at - v_margin;
  end if;
  if v_sure_to > v_mark.counted_to then
    v_mark.counted_to := holdfast.count_minutes(v_mark.counted_to, v_sure_to);
    v_mark.folded_to := holdfast.fold_statistics(v_mark.folded_to, least(v_mark.counted_to, v_now - interval '1 day'));
  end if;
  -- A probe that has served makes room for the next.
  if v_mark.probe_at is null or v_mark.counted_to >= v_mark.probe_at - v_margin then
    v_mark.probe_at := v_now;
    v_mark.probe_xid := pg_current_xact_id();
  end if;
  update holdfast.statistics_mark as m
     set counted_to = v_mark.counted_to, folded_to = v_mark.folded_to, probe_at = v_mark.probe_at, probe_xid = v_mark.probe_xid;
  delete from holdfast.statistics_minute as m
   where m.ctid = any (array(
     select o.ctid from holdfast.statistics_minute as o where o.minute < v_now - v_keep order by o.minute limit 10000
   ));
  return coalesce(v_mark.counted_to < v_sure_to, false);
end
$$;

-- False for four seconds after a round, which itself leaves out the last five.
create or replace function holdfast.statistics_are_due() returns boolean
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select not exists (select from holdfast.statistics_mark as m where m.counted_to > holdfast.now() - interval '9 seconds')
$$;

-- Replaces the rows of each hour's minutes by one row, up to p_until or for 24 hours; returns up to where.
create or replace function holdfast.fold_statistics(p_from timestamptz, p_until timestamptz) returns timestamptz
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'
as $$
declare
  v_folded timestamptz := p_from;
  v_hour timestamptz;
begin
  for v_turn in 1..24 loop
    select date_trunc('hour', min(m.minute)) into v_hour from holdfast.statistics_minute as m where m.minute >= v_folded;
    if v_hour is null or v_hour + interval '1 hour' > p_until then
      return greatest(v_folded, date_trunc('hour', p_until));
    end if;
    with gone as (
      delete from holdfast.statistics_minute as m
       where m.minute >= v_hour
         and m.minute < v_hour + interval '1 hour'
      returning m.*
    ),
    summed as (
      select g.queue, g.type, g.fact, sum(g.n)::bigint as n,
             sum(g.wait_ms)::bigint as wait_ms, sum(g.run_ms)::bigint as run_ms
        from gone as g
       group by g.queue, g.type, g.fact
    ),
    spread as (
      select t.queue, t.type, t.fact, array_agg(t.waits order by t.bucket) as waits, array_agg(t.runs order by t.bucket) as runs
        from (
          select g.queue, g.type, g.fact, b.bucket, sum(b.wait)::bigint as waits, sum(b.run)::bigint as runs
            from gone as g
           cross join lateral unnest(g.wait_buckets, g.run_buckets) with ordinality as b(wait, run, bucket)
           group by g.queue, g.type, g.fact, b.bucket
        ) as t
       group by t.queue, t.type, t.fact
    )
    insert into holdfast.statistics_minute
      (minute, queue, type, fact, n, wait_ms, run_ms, wait_buckets, run_buckets)
    select v_hour, s.queue, s.type, s.fact, s.n, s.wait_ms, s.run_ms, h.waits, h.runs
      from summed as s
      join spread as h using (queue, type, fact);
    v_folded := v_hour + interval '1 hour';
  end loop;
  return v_folded;
end
$$;
