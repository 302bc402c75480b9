-- People and companies: who signs in, and whom the money is owed to.

CREATE TABLE providers (
    id              uuid PRIMARY KEY,
    name            text NOT NULL CHECK (name <> ''),
    email           text NOT NULL,
    phone           text NOT NULL,
    city            text NOT NULL DEFAULT '',
    commission_rate numeric(5, 4) NOT NULL CHECK (commission_rate BETWEEN 0 AND 1),
    status          text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'INACTIVE')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE users (
    id            uuid PRIMARY KEY,
    name          text NOT NULL CHECK (name <> ''),
    email         text NOT NULL,
    phone         text NOT NULL DEFAULT '',
    password_hash text NOT NULL,
    role          text NOT NULL CHECK (role IN ('END_USER', 'PROVIDER_STAFF', 'PROVIDER_ADMIN', 'SUPPORT_AGENT',
                                                'FINANCE_ADMIN', 'ADMIN', 'SUPER_ADMIN')),
    provider_id   uuid REFERENCES providers (id),
    locale        text NOT NULL DEFAULT 'ar' CHECK (locale IN ('ar', 'en')),
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    deleted_at    timestamptz,
    -- A provider role without a provider, or a provider on anybody else, would break scoping.
    CONSTRAINT users_provider_scope CHECK ((role IN ('PROVIDER_STAFF', 'PROVIDER_ADMIN')) = (provider_id IS NOT NULL))
);
CREATE UNIQUE INDEX users_email_live ON users (lower(email)) WHERE deleted_at IS NULL;
CREATE INDEX users_provider ON users (provider_id) WHERE provider_id IS NOT NULL;

-- A refresh token is spent by its use; using a spent one revokes its whole family (contract §2).
CREATE TABLE refresh_tokens (
    token_hash bytea PRIMARY KEY,
    family_id  uuid NOT NULL,
    user_id    uuid NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    spent_at   timestamptz,
    revoked_at timestamptz
);
CREATE INDEX refresh_tokens_family ON refresh_tokens (family_id);
CREATE INDEX refresh_tokens_user ON refresh_tokens (user_id);

CREATE TABLE idempotency_keys (
    user_id      uuid NOT NULL,
    method       text NOT NULL,
    path         text NOT NULL,
    key          uuid NOT NULL,
    body_hash    bytea NOT NULL,
    locked_until timestamptz NOT NULL,
    status       int,
    location     text NOT NULL DEFAULT '',
    body         bytea,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, method, path, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE audit_log (
    id         uuid PRIMARY KEY,
    actor_id   uuid,
    actor_role text NOT NULL DEFAULT '',
    action     text NOT NULL,
    entity     text NOT NULL,
    entity_id  uuid,
    details    jsonb NOT NULL DEFAULT '{}',
    request_id text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_created ON audit_log (created_at DESC, id);
CREATE INDEX audit_log_entity ON audit_log (entity, entity_id);
