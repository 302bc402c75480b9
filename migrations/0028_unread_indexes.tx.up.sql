-- Indexes that no query of the service or of its audit reads, and that every payment wrote to. The rows that they point to are never
-- deleted, so that no foreign key looks them up either.

-- Attempts are listed by state, gateway, method, booking, campaign, reference and day, and never by company. An attempt's row changes
-- three times and mostly with an indexed column, each time with an entry here.
DROP INDEX transactions_provider;

-- Transfers are read by account and by transaction; the audit reads all of them. From an entry to its transfers goes no query.
DROP INDEX transfers_record;
