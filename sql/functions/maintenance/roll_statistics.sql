-- roll_statistics: adds what has ended since the last time to the statistics
--   Guard   one at a time, others return at once. The mark moves in the transaction that counts: a crash neither loses nor
--           doubles. Nothing is counted before all transactions that could still add to its span are over.
--   Locks   statistics_mark, skip locked; rows of statistics_minute.
--   Returns true when there is more to count now.
--   Notifies nothing.
-- An outcome carries the moment it was written, not the moment its transaction committed. So a round notes the time and then
-- its own transaction number: whatever was written before has a lower number, and once no lower number is open, all of it can
-- be seen. A transaction that stays open does not hold the statistics up for longer than five minutes; what it has settled by
-- then is missing in them. Attempts note their time a little before their transaction has a number: hence the margin.
create or replace function holdfast.roll_statistics_v1()
  returns boolean
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
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
create or replace function holdfast.statistics_are_due()
  returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select not exists (select from holdfast.statistics_mark as m where m.counted_to > holdfast.now() - interval '9 seconds')
$$;
