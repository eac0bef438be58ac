-- A claim that guards a pointer instead of an execution: a flag on the job, at most one flagged job per key by a partial
-- unique index, and a claim that takes the flag from the others of the key and sets it on its own. Two jobs of a key run at
-- once under it, and the race tests must see that they do.
create schema seed_claim;

create table seed_claim.jobs (
  id bigint generated always as identity primary key,
  key text not null,
  state text not null default 'pending',
  is_current boolean not null default false,
  locked_by text,
  attempts integer not null default 0,
  max_attempts integer not null default 1000
);
create unique index one_current on seed_claim.jobs (key) where is_current;

create function seed_claim.claim_job(p_job_id bigint, p_worker text)
  returns table (job_id bigint, key text, token bigint)
  language plpgsql
as $$
begin
  update seed_claim.jobs as j
     set is_current = false
   where j.key = (select t.key from seed_claim.jobs as t where t.id = p_job_id)
     and j.is_current
     and j.id <> p_job_id;
  return query
    update seed_claim.jobs as j
       set state = 'running', is_current = true, locked_by = p_worker, attempts = j.attempts + 1
     where j.id = p_job_id
       and j.state = 'pending'
       and j.locked_by is null
       and j.attempts < j.max_attempts
    returning j.id, j.key, j.attempts::bigint;
end
$$;

create function seed_claim.record()
  returns trigger
  language plpgsql
as $$
begin
  if new.state is distinct from old.state then
    insert into race.history (event, job_id, key, token)
    values (case when new.state = 'running' then 'claimed' else 'left' end, new.id, new.key, new.attempts);
  end if;
  return null;
end
$$;
create trigger moved after update on seed_claim.jobs for each row execute function seed_claim.record();
