-- What a company's photos take up is added up before each upload. The table has some rows for each bus: the index is made in one short step.
SET LOCAL lock_timeout = '3s';
CREATE INDEX bus_photos_provider ON bus_photos (provider_id) INCLUDE (size);

-- When an account's owner was proved beyond doubt: by a link of the mailbox together with a session or the password of the account, or by
-- setting a password through the mailbox. email_verified_at alone does not say so of accounts that were verified before migration 0052's
-- version: there a click of the mailbox's owner could bless what a stranger had put into the account. NULL for those, and for customers who
-- have not verified yet; the next password that is set through the mailbox takes a second factor away then.
ALTER TABLE users ADD COLUMN owner_proved_at timestamptz;
