-- Rows about people that an account has read in an hour of the clock, those of its requests under way included; noted says that the audit
-- log has it (rules: privacy.lists). Accounts of another issuer read, too, and have no row of users.
CREATE TABLE people_reads (
    account_id uuid NOT NULL,
    hour       timestamptz NOT NULL,
    rows       int NOT NULL CHECK (rows >= 0),
    noted      boolean NOT NULL DEFAULT false,
    PRIMARY KEY (account_id, hour)
);
