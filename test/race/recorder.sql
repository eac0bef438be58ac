-- What the race tests add to their clone of the database: a history that triggers write in the transaction of each transition,
-- the states that races start from, and a verdict. Per job and per key the history's order is the true one: the row lock
-- spans the transition and its line.
create schema race;
grant usage on schema race to public;

create table race.history (
  seq bigint generated always as identity primary key,
  pid integer not null default pg_backend_pid(),
  event text not null,  -- claimed, left (the lease is gone), ended (a final state), revived (the final state is gone)
  job_id bigint not null,
  key text,
  token bigint not null,
  lease_id uuid,
  state text
);

create function race.record()
  returns trigger
  language plpgsql security definer
as $$
declare
  v_row constant jsonb := case tg_op when 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
begin
  insert into race.history (event, job_id, key, token, lease_id, state)
  values (tg_argv[0], (v_row ->> 'job_id')::bigint, v_row ->> 'key', (v_row ->> 'token')::bigint,
          (v_row ->> 'lease_id')::uuid, v_row ->> 'state');
  return null;
end
$$;
create trigger claimed after insert on holdfast.lease for each row
  when (current_setting('race.is_silent', true) is distinct from 'on') execute function race.record('claimed');
create trigger gone after delete on holdfast.lease for each row
  when (current_setting('race.is_silent', true) is distinct from 'on') execute function race.record('left');
create trigger ended after insert on holdfast.outcome for each row
  when (current_setting('race.is_silent', true) is distinct from 'on') execute function race.record('ended');
create trigger revived after delete on holdfast.outcome for each row
  when (current_setting('race.is_silent', true) is distinct from 'on') execute function race.record('revived');

-- Whether that backend waits for one of the others: looked at until it does or has nothing more to do, for a while.
create function race.is_blocked(p_pid integer, p_by_one_of integer[])
  returns boolean
  language plpgsql
as $$
begin
  for v_look in 1..20 loop
    if pg_blocking_pids(p_pid) && p_by_one_of then
      return true;
    end if;
    perform pg_stat_clear_snapshot();
    exit when v_look > 1 and (select a.state from pg_stat_activity as a where a.pid = p_pid) is distinct from 'active';
    perform pg_sleep(0.001);
  end loop;
  return false;
end
$$;

-- Where a patched function stops, until the watching session gives its lock away.
create function race.pause()
  returns void
  language sql
as $$
  select pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)
$$;

create function race.reset()
  returns void
  language plpgsql
as $$
begin
  delete from holdfast.ready;
  delete from holdfast.lease;
  delete from holdfast.outcome;
  delete from holdfast.attempt;
  delete from holdfast.job;
  delete from holdfast.job_key;
  delete from holdfast.worker;
  delete from holdfast.audit;
  delete from race.history;
end
$$;

-- The second claim of that job. The lease of its first claim is given too: it is stale.
create function race.rerun(p_job_id bigint)
  returns jsonb
  language plpgsql
as $$
declare
  v_stale jsonb;
  v_lease jsonb;
begin
  select jsonb_build_object('job_id', c.id, 'token', c.token, 'lease_id', c.lease_id)
    into strict v_stale from holdfast.claim_one(p_job_id, 'w0') as c;
  perform holdfast.release_jobs(jsonb_build_array(v_stale));
  select jsonb_build_object('job_id', c.id, 'token', c.token, 'lease_id', c.lease_id)
    into strict v_lease from holdfast.claim_one(p_job_id, 'w1') as c;
  return jsonb_build_object('lease', v_lease, 'stale', v_stale);
end
$$;

-- pending: both jobs are. lost: the first is held, for longer than its lease and by a worker that has died.
-- parked: as lost, and the second has been met by a claim. finished: the first has failed, the second is held as in lost.
create function race.stage(p_start text, p_policy text, p_jobs integer)
  returns jsonb
  language plpgsql
as $$
declare
  v_options constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'max_attempts', 9, 'key', case when p_policy is not null then 'k' end, 'key_policy', p_policy));
  v_first bigint;
  v_second bigint;
  v_held jsonb := '{}';
begin
  perform race.reset();
  v_first := holdfast.enqueue('task', '{}', v_options);
  if p_start <> 'pending' or p_policy = 'coalesce' and p_jobs = 2 then
    v_held := race.rerun(v_first);
  end if;
  if p_start = 'pending' and v_held <> '{}' then
    -- Two pending jobs of a coalescing key: one that has run before and one that was asked for meanwhile.
    perform holdfast.fail_jobs(jsonb_build_array((v_held -> 'lease') || '{"delay_ms": 0}'));
  elsif p_start = 'finished' then
    perform holdfast.fail_jobs(jsonb_build_array((v_held -> 'lease') || '{"permanent": true}'));
  end if;
  if p_jobs = 2 then
    v_second := holdfast.enqueue('task', '{}', v_options);
    if p_start = 'parked' then
      perform holdfast.claim_jobs('w2', '{default}', '{task}', 10);
    elsif p_start = 'finished' then
      v_held := race.rerun(v_second);
    end if;
  end if;

  update holdfast.lease
     set locked_at = clock_timestamp() - interval '1 hour', locked_until = clock_timestamp() - interval '1 minute';
  if exists (select from holdfast.lease) then
    perform holdfast.register_worker_v1('w1', 'pod', 1, '0', '{default}', '{task}', 1);
    perform holdfast.register_worker_v1('idle', 'pod', 2, '0', '{default}', '{task}', 1);
    update holdfast.worker set heartbeat_at = clock_timestamp() - interval '1 hour';
  end if;
  return v_held || jsonb_build_object('first', v_first, 'second', v_second);
end
$$;

-- A stage is set by the functions once, kept, and put back before each race.
create table race.kept_ready (like holdfast.ready);
create table race.kept_lease (like holdfast.lease);
create table race.kept_outcome (like holdfast.outcome);
create table race.kept_attempt (like holdfast.attempt);
create table race.kept_job (like holdfast.job);
create table race.kept_job_key (like holdfast.job_key);
create table race.kept_worker (like holdfast.worker);
create table race.kept_history (like race.history);

create function race.keep_stage()
  returns void
  language sql
as $$
  delete from race.kept_ready;
  delete from race.kept_lease;
  delete from race.kept_outcome;
  delete from race.kept_attempt;
  delete from race.kept_job;
  delete from race.kept_job_key;
  delete from race.kept_worker;
  delete from race.kept_history;
  insert into race.kept_ready select * from holdfast.ready;
  insert into race.kept_lease select * from holdfast.lease;
  insert into race.kept_outcome select * from holdfast.outcome;
  insert into race.kept_attempt select * from holdfast.attempt;
  insert into race.kept_job select * from holdfast.job;
  insert into race.kept_job_key select * from holdfast.job_key;
  insert into race.kept_worker select * from holdfast.worker;
  insert into race.kept_history select * from race.history;
$$;

create function race.put_back()
  returns void
  language plpgsql
as $$
begin
  perform set_config('race.is_silent', 'on', true);  -- its history is put back with it
  perform race.reset();
  insert into holdfast.ready select * from race.kept_ready;
  insert into holdfast.lease select * from race.kept_lease;
  insert into holdfast.outcome select * from race.kept_outcome;
  insert into holdfast.attempt select * from race.kept_attempt;
  insert into holdfast.job overriding system value select * from race.kept_job;
  insert into holdfast.job_key select * from race.kept_job_key;
  insert into holdfast.worker select * from race.kept_worker;
  insert into race.history overriding system value select * from race.kept_history;
end
$$;

-- As the library completes a job: what the array form does not settle goes to settle_jobs.
create function race.complete_plain(p_job_id bigint, p_token bigint, p_lease_id uuid)
  returns boolean
  language plpgsql security definer
as $$
begin
  return holdfast.complete_plain_jobs_v1(array[p_job_id], array[1], array[p_token], array[p_lease_id]) = '{}'
    or (select s.lost = '{}' from holdfast.settle_jobs_v1(jsonb_build_array(jsonb_build_object(
          'job_id', p_job_id, 'token', p_token, 'lease_id', p_lease_id, 'outcome', 'complete'))) as s);
end
$$;

-- Ends whatever can still be ended, a day later: all leases are over, all backoffs too.
create function race.drain()
  returns void
  language plpgsql
as $$
declare
  v_claimed jsonb;
begin
  perform set_config('holdfast.fake_now', (clock_timestamp() + interval '1 day')::text, true);
  if exists (select from holdfast.lease) then
    perform holdfast.reap_leases_v1();
  end if;
  while exists (select from holdfast.ready) loop
    select jsonb_agg(jsonb_build_object('job_id', c.id, 'token', c.token, 'lease_id', c.lease_id))
      into v_claimed
      from holdfast.claim_jobs_v1('drain', '{default}', '{task}', 100) as c;
    exit when v_claimed is null;
    perform holdfast.complete_jobs(v_claimed);
  end loop;
end
$$;

-- What is left when all transactions have ended: places and history as they are; if asked, which jobs cannot be brought to
-- an end.
create function race.verdict(p_drains boolean)
  returns jsonb
  language plpgsql
as $$
declare
  v_found constant jsonb := jsonb_build_object(
    'problems', array(select format('job %s %s', p.job_id, p.problem) from holdfast.check_places() as p),
    'jobs', array(select j.id from holdfast.job as j),
    'history', (select coalesce(jsonb_agg(h order by h.seq), '[]') from race.history as h));
begin
  if not p_drains then
    return v_found;
  end if;
  perform race.drain();
  return v_found || jsonb_build_object('stuck', array(
    select j.id from holdfast.job as j where not exists (select from holdfast.outcome as o where o.job_id = j.id)));
end
$$;
