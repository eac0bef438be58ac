-- What a worker says of its process, for whoever decides where jobs are to run.
-- oldest-program: 1
alter table holdfast.worker
  add column is_alone boolean not null default false,  -- its process does nothing but work
  add column loop_delay_ms real,     -- event-loop delay: 99th percentile since its report before
  add column clock_offset_ms real;   -- its clock minus the database's
