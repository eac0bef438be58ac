-- A job that is un-parked stands at its old place, which busy claims have passed: they find it by an index of such jobs.
-- oldest-program: 12
alter table holdfast.ready add column unparked boolean not null default false;  -- its key was freed for it
create index ready_unparked on holdfast.ready (queue, priority, run_at, job_id) where unparked;
