-- Nearly all jobs complete: their own index has no state, so that an entry is compared and made by two plain numbers. Claims tell
-- by id what their jobs do not have in common, which an older program cannot read.
-- oldest-program: 12
create index outcome_completed on holdfast.outcome (finished_at, job_id) where state = 'completed';
create index outcome_unfulfilled on holdfast.outcome (state, finished_at, job_id) where state <> 'completed';
drop index holdfast.outcome_list;
