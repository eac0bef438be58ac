-- A worker's own process enqueues into its hands (enqueue_held): a program that does so needs a database that has been
-- migrated since. Functions come with every migrate; there is nothing to alter.
-- oldest-program: 8
select;
