-- Claims tell once what their jobs have in common: an older program cannot read them.
-- oldest-program: 11
select;
