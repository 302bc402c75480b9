-- Guessing of passwords, the known networks of an account, and who besides users changes accounts.

-- Failed log-ins of one subject: an account by its id, or one of 65,536 buckets that email addresses without an account share.
-- So the table is bounded by the number of accounts, and an address without an account is treated as one with an account.
CREATE TABLE login_throttles (
    subject      uuid PRIMARY KEY,
    failures     int NOT NULL DEFAULT 0 CHECK (failures >= 0), -- since counted_from, for at most 24 hours
    counted_from timestamptz NOT NULL,
    failed_at    timestamptz,                                  -- of the newest failure; the pause begins here
    locked_until timestamptz,
    networks     text[] NOT NULL DEFAULT '{}' CHECK (cardinality(networks) <= 20) -- of log-ins that succeeded, newest first
);

-- The command line changes accounts, too: operator is the system user's name. The kind follows from the other columns, so that
-- processes of an older version write it as well.
ALTER TABLE audit_log
    ADD COLUMN operator text NOT NULL DEFAULT '',
    ADD COLUMN actor_kind text NOT NULL GENERATED ALWAYS AS (
        CASE WHEN actor_id IS NOT NULL THEN 'USER' WHEN operator <> '' THEN 'OPERATOR' ELSE 'SYSTEM' END) STORED;

-- A message is about a payment, or about an account.
ALTER TABLE notifications
    ALTER COLUMN transaction_id DROP NOT NULL,
    ADD COLUMN user_id uuid REFERENCES users (id),
    ADD CONSTRAINT notifications_subject CHECK (transaction_id IS NOT NULL OR user_id IS NOT NULL);
