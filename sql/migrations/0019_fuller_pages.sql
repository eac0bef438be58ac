-- Pages of the living tables are filled: most jobs leave them before anything about them changes. Progress still finds room on its page
-- in lease; nearly all updates of ready change what its indexes are made of and leave theirs anyway. Older programs go on.
-- oldest-program: 16
alter table holdfast.lease set (fillfactor = 90);
alter table holdfast.ready set (fillfactor = 100);
