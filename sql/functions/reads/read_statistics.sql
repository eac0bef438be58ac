-- read_statistics: the statistics of a span of time, in steps
--   Guard   the step is whole minutes; a span of at most 31 days and 1,500 steps.
--   Locks   none.
--   Returns one row per step and fact that has any, and up to when all is counted; only that when there is none. Rows that
--           are older than a day stand for an hour. Raises INVALID_OPTION.
--   Notifies nothing.
create or replace function holdfast.read_statistics_v1(
  p_since timestamptz, p_until timestamptz, p_step interval, p_queues text[] default null, p_types text[] default null
)
  returns table (
    at timestamptz, fact text, n bigint, wait_ms bigint, run_ms bigint, wait_buckets bigint[],
    run_buckets bigint[], counted_to timestamptz
  )
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set timezone = 'UTC'
as $$
begin
  if p_step < interval '1 minute' or extract(epoch from p_step)::numeric % 60 <> 0 or p_until <= p_since
    or p_until - p_since > interval '31 days' or (p_until - p_since) > 1500 * p_step
  then
    perform holdfast.refuse('INVALID_OPTION', 'step must be whole minutes, and the span at most 31 days and 1,500 steps',
      jsonb_build_object('since', p_since, 'until', p_until, 'step', p_step));
  end if;
  return query
    select s.*, k.counted_to
      from (select) as one
      left join holdfast.statistics_mark as k on true
      left join lateral (
        select date_bin(p_step, m.minute, p_since) as at, m.fact, sum(m.n)::bigint,
               sum(m.wait_ms)::bigint, sum(m.run_ms)::bigint,
               array[sum(m.wait_buckets[1]), sum(m.wait_buckets[2]), sum(m.wait_buckets[3]), sum(m.wait_buckets[4]),
                     sum(m.wait_buckets[5]), sum(m.wait_buckets[6]), sum(m.wait_buckets[7]), sum(m.wait_buckets[8]),
                     sum(m.wait_buckets[9]), sum(m.wait_buckets[10]), sum(m.wait_buckets[11]),
                     sum(m.wait_buckets[12]), sum(m.wait_buckets[13]), sum(m.wait_buckets[14]),
                     sum(m.wait_buckets[15]), sum(m.wait_buckets[16]), sum(m.wait_buckets[17])]::bigint[],
               array[sum(m.run_buckets[1]), sum(m.run_buckets[2]), sum(m.run_buckets[3]), sum(m.run_buckets[4]),
                     sum(m.run_buckets[5]), sum(m.run_buckets[6]), sum(m.run_buckets[7]), sum(m.run_buckets[8]),
                     sum(m.run_buckets[9]), sum(m.run_buckets[10]), sum(m.run_buckets[11]), sum(m.run_buckets[12]),
                     sum(m.run_buckets[13]), sum(m.run_buckets[14]), sum(m.run_buckets[15]), sum(m.run_buckets[16]),
                     sum(m.run_buckets[17])]::bigint[]
          from holdfast.statistics_minute as m
         where m.minute >= p_since
           and m.minute < p_until
           and (p_queues is null or m.queue = any (p_queues))
           and (p_types is null or m.type = any (p_types))
         group by 1, 2
         order by 1, 2
      ) as s on true;
end
$$;
