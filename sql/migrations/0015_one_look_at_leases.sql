-- Workers share one look at the leases, instead of reading all of them each for itself every few seconds. Older programs go on.
-- oldest-program: 12

-- What the last look at all leases found.
create table holdfast.lease_look (
  one boolean primary key default true check (one),
  looked_at timestamptz not null,
  took interval not null,
  first_end timestamptz             -- of the lease that is over first; null without leases
) with (fillfactor = 50);
