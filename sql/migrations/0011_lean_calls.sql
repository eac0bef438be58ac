-- A single job goes into the hands of its own process's worker by a call of its own (enqueue_one_held): a program that does so
-- needs a database that has been migrated since. Functions come with every migrate; there is nothing to alter.
-- oldest-program: 8
select;
