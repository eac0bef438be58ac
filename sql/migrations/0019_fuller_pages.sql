-- Pages of the living tables are filled: what a busy queue moves through them stays shorter than any update. Progress still finds room
-- on its page in lease; an update of ready never stayed on one, since it changes what indexes are made of. Older programs go on.
-- oldest-program: 16
alter table holdfast.lease set (fillfactor = 90);
alter table holdfast.ready set (fillfactor = 100);
