-- Sessions that can be seen and ended, second factors, and what proves an address (rules: identity.sessions, identity.second-factor).

-- A session is a family of refresh tokens. Its end is the end of the access tokens that came from it, too.
CREATE TABLE sessions (
    id             uuid PRIMARY KEY,
    user_id        uuid NOT NULL REFERENCES users (id),
    created_at     timestamptz NOT NULL DEFAULT now(),
    used_at        timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL, -- however often it is refreshed
    ended_at       timestamptz,
    address        text NOT NULL DEFAULT '',
    user_agent     text NOT NULL DEFAULT '',
    -- What has proved more than the password: a code of the account's own second factor, or that of an external issuer.
    second_factor  text NOT NULL DEFAULT '' CHECK (second_factor IN ('', 'TOTP', 'RECOVERY_CODE', 'ISSUER')),
    code_at        timestamptz, -- of the last code
    CONSTRAINT sessions_code CHECK (code_at IS NULL OR second_factor <> '')
);
CREATE INDEX sessions_user ON sessions (user_id, used_at DESC) WHERE ended_at IS NULL;
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Families from before this migration: as old as their first token, and over where none of their tokens can be used any more.
INSERT INTO sessions (id, user_id, created_at, used_at, expires_at, ended_at)
SELECT rt.family_id, rt.user_id, min(rt.created_at), max(rt.created_at),
       least(max(rt.expires_at), min(rt.created_at) + CASE WHEN min(u.role) = 'END_USER' THEN interval '30 days' ELSE interval '12 hours' END),
       CASE WHEN bool_or(rt.spent_at IS NULL AND rt.revoked_at IS NULL) THEN NULL ELSE coalesce(max(rt.revoked_at), max(rt.spent_at)) END
FROM refresh_tokens AS rt JOIN users AS u ON u.id = rt.user_id
GROUP BY rt.family_id, rt.user_id;

ALTER TABLE users
    ADD COLUMN second_factor_at  timestamptz, -- since when the account has one
    ADD COLUMN locked_at         timestamptz; -- by an administrator, until it is taken back

-- Accounts that others made for their owners were made for that address.
UPDATE users SET email_verified_at = created_at WHERE role <> 'END_USER' AND email_verified_at IS NULL;

-- One per account: its secret, encrypted, and the time step of the last code, so that a code counts once.
CREATE TABLE second_factors (
    user_id      uuid PRIMARY KEY REFERENCES users (id),
    secret       bytea NOT NULL,
    last_step    bigint NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL DEFAULT now(),
    confirmed_at timestamptz
);

CREATE TABLE recovery_codes (
    user_id   uuid NOT NULL REFERENCES users (id),
    code_hash bytea NOT NULL,
    used_at   timestamptz,
    PRIMARY KEY (user_id, code_hash)
);

-- A log-in whose password was right and that waits for a code.
CREATE TABLE login_challenges (
    token_hash       bytea PRIMARY KEY,
    user_id          uuid NOT NULL REFERENCES users (id),
    token_generation int NOT NULL, -- of the account when its password was right
    created_at       timestamptz NOT NULL DEFAULT now(),
    expires_at       timestamptz NOT NULL,
    tries            int NOT NULL DEFAULT 0,
    used_at          timestamptz
);
CREATE INDEX login_challenges_expiry ON login_challenges (expires_at);

-- What a mail's link proves. The secret is made when the mail is sent and only its hash is kept.
CREATE TABLE account_tokens (
    id         uuid PRIMARY KEY,
    user_id    uuid NOT NULL REFERENCES users (id),
    purpose    text NOT NULL CHECK (purpose IN ('VERIFY_EMAIL', 'RESET_PASSWORD', 'INVITATION')),
    email      text NOT NULL, -- that the link was sent to
    token_hash bytea UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz, -- from when it was sent
    used_at    timestamptz,
    CONSTRAINT account_tokens_sent CHECK ((token_hash IS NULL) = (expires_at IS NULL))
);
CREATE INDEX account_tokens_user ON account_tokens (user_id, purpose, created_at);
