-- A refresh token that is spent keeps its successor for a client that has lost the answer (rules: identity.refresh), and what strangers
-- cause is counted by the hour (rules: identity.strangers).

ALTER TABLE refresh_tokens
    ADD COLUMN successor      bytea, -- sealed by a key that comes from the token itself
    ADD COLUMN successor_hash bytea,
    ADD COLUMN spent_network  text NOT NULL DEFAULT '', -- from which it was spent, and by which client
    ADD COLUMN spent_agent    text NOT NULL DEFAULT '',
    ADD CONSTRAINT refresh_tokens_successor CHECK ((successor IS NULL) = (successor_hash IS NULL));

CREATE TABLE stranger_counts (
    subject text NOT NULL, -- 'mails', or 'registrations ' and a network
    hour    timestamptz NOT NULL,
    count   int NOT NULL DEFAULT 1 CHECK (count > 0),
    PRIMARY KEY (subject, hour)
);
