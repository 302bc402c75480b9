-- What a repeated request needs to know of the one before it that was killed, and how long access tokens hold.

-- A request works under a claim of its own: what it does counts only while no other request has taken the key over.
ALTER TABLE idempotency_keys
    ADD COLUMN claim       uuid, -- of the request that has the key, or has answered under it
    ADD COLUMN resource_id uuid; -- what it has made: written in the SQL transaction that makes it
CREATE UNIQUE INDEX idempotency_keys_claim ON idempotency_keys (claim);

-- An access token of an older generation is refused: removal and a new password end all of them.
ALTER TABLE users ADD COLUMN token_generation int NOT NULL DEFAULT 0;

CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);
