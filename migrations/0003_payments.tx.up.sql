-- What customers and companies buy, how they pay for it, and what the gateways tell us.

CREATE TABLE bookings (
    id            uuid PRIMARY KEY,
    trip_id       uuid NOT NULL,
    provider_id   uuid NOT NULL,
    user_id       uuid NOT NULL REFERENCES users (id),
    status        text NOT NULL DEFAULT 'PENDING_PAYMENT'
                  CHECK (status IN ('PENDING_PAYMENT', 'CONFIRMED', 'PAYMENT_FAILED', 'CANCELLED')),
    seats         int NOT NULL CHECK (seats BETWEEN 1 AND 20),
    -- Whether the seats are counted in trips.seats_taken; flips exactly once, with the state.
    seats_held    boolean NOT NULL DEFAULT true,
    hold_until    timestamptz NOT NULL,
    amount        numeric(14, 2) NOT NULL CHECK (amount > 0),
    currency      text NOT NULL DEFAULT 'SAR' CHECK (currency = 'SAR'),
    vat_rate      numeric(5, 4) NOT NULL CHECK (vat_rate BETWEEN 0 AND 1),
    vat_amount    numeric(14, 2) NOT NULL CHECK (vat_amount BETWEEN 0 AND amount),
    passengers    jsonb NOT NULL,
    contact_name  text NOT NULL,
    contact_email text NOT NULL,
    contact_phone text NOT NULL,
    locale        text NOT NULL DEFAULT 'ar' CHECK (locale IN ('ar', 'en')),
    -- Where the gateway sends the customer after the next attempt. It may carry anything, so it stays out of histories.
    return_url    text NOT NULL DEFAULT '',
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT bookings_seats_follow_status CHECK (seats_held = (status IN ('PENDING_PAYMENT', 'CONFIRMED'))),
    FOREIGN KEY (trip_id, provider_id) REFERENCES trips (id, provider_id)
);
CREATE INDEX bookings_user ON bookings (user_id, created_at DESC, id);
CREATE INDEX bookings_trip ON bookings (trip_id);
CREATE INDEX bookings_provider ON bookings (provider_id);
CREATE INDEX bookings_holds ON bookings (hold_until) WHERE status = 'PENDING_PAYMENT';

CREATE TABLE ad_campaigns (
    id          uuid PRIMARY KEY,
    provider_id uuid NOT NULL,
    trip_id     uuid NOT NULL,
    created_by  uuid NOT NULL REFERENCES users (id),
    title       text NOT NULL CHECK (title <> ''),
    description text NOT NULL DEFAULT '',
    starts_on   date NOT NULL,
    ends_on     date NOT NULL,
    price       numeric(14, 2) NOT NULL CHECK (price > 0), -- without VAT
    return_url  text NOT NULL DEFAULT '',
    status      text NOT NULL DEFAULT 'PENDING_PAYMENT'
                CHECK (status IN ('PENDING_PAYMENT', 'PAYMENT_FAILED', 'SCHEDULED', 'ACTIVE', 'PAUSED', 'ENDED')),
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    deleted_at  timestamptz,
    CONSTRAINT ad_campaigns_dates CHECK (ends_on >= starts_on),
    FOREIGN KEY (trip_id, provider_id) REFERENCES trips (id, provider_id)
);
CREATE INDEX ad_campaigns_provider ON ad_campaigns (provider_id, created_at) WHERE deleted_at IS NULL;
CREATE INDEX ad_campaigns_trip ON ad_campaigns (trip_id);

-- One row per payment attempt (kind PAYMENT) and one per refund that succeeded (kind REFUND, spec 3.5).
CREATE TABLE payment_transactions (
    id                     uuid PRIMARY KEY, -- UUIDv5, architecture §3
    kind                   text NOT NULL CHECK (kind IN ('PAYMENT', 'REFUND')),
    parent_id              uuid REFERENCES payment_transactions (id),
    attempt                int NOT NULL DEFAULT 1 CHECK (attempt >= 1),
    reference              text,
    user_id                uuid NOT NULL REFERENCES users (id),
    provider_id            uuid NOT NULL REFERENCES providers (id),
    booking_id             uuid REFERENCES bookings (id),
    ad_campaign_id         uuid REFERENCES ad_campaigns (id),
    amount                 numeric(14, 2) NOT NULL CHECK (amount > 0),
    currency               text NOT NULL DEFAULT 'SAR' CHECK (currency = 'SAR'),
    vat_rate               numeric(5, 4) NOT NULL CHECK (vat_rate BETWEEN 0 AND 1),
    vat_amount             numeric(14, 2) NOT NULL CHECK (vat_amount BETWEEN 0 AND amount),
    payment_method         text NOT NULL
                           CHECK (payment_method IN ('credit_card', 'debit_network', 'wallet_a', 'wallet_b', 'bill_payment')),
    gateway                text NOT NULL CHECK (gateway IN ('gateway_a', 'wallet_b')),
    status                 text NOT NULL CHECK (status IN ('PENDING', 'PAID', 'FAILED', 'REFUNDED', 'PARTIAL_REFUND')),
    failure_code           text CHECK (failure_code IN ('DECLINED', 'EXPIRED', 'CANCELLED', 'GATEWAY_REJECTED',
                                                        'AMOUNT_MISMATCH', 'CURRENCY_MISMATCH')),
    failure_reason         text NOT NULL DEFAULT '',
    checkout_url           text,
    return_url             text NOT NULL DEFAULT '',
    expires_at             timestamptz NOT NULL,
    -- When the gateway took the money; set for PAID, and for a late capture that is being given back.
    captured_at            timestamptz,
    refunded_amount        numeric(14, 2) NOT NULL DEFAULT 0 CHECK (refunded_amount >= 0),
    refund_reserved_amount numeric(14, 2) NOT NULL DEFAULT 0 CHECK (refund_reserved_amount >= 0),
    created_at             timestamptz NOT NULL DEFAULT now(),
    updated_at             timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT transactions_one_subject CHECK (num_nonnulls(booking_id, ad_campaign_id) = 1),
    CONSTRAINT transactions_kind_status CHECK ((kind = 'REFUND') = (status IN ('REFUNDED', 'PARTIAL_REFUND'))),
    CONSTRAINT transactions_refund_parent CHECK ((kind = 'REFUND') = (parent_id IS NOT NULL)),
    CONSTRAINT transactions_failure CHECK ((status = 'FAILED') = (failure_code IS NOT NULL)),
    CONSTRAINT transactions_paid_captured CHECK (status <> 'PAID' OR captured_at IS NOT NULL),
    -- However many refunds run at once, what is given back and reserved never exceeds what was taken.
    CONSTRAINT transactions_refund_cap CHECK (refunded_amount + refund_reserved_amount <= amount),
    CONSTRAINT transactions_refund_of_captured CHECK (captured_at IS NOT NULL OR refunded_amount + refund_reserved_amount = 0)
);
CREATE UNIQUE INDEX transactions_booking_attempt ON payment_transactions (booking_id, attempt) WHERE kind = 'PAYMENT';
CREATE UNIQUE INDEX transactions_campaign_attempt ON payment_transactions (ad_campaign_id, attempt) WHERE kind = 'PAYMENT';
-- One open attempt and one paid attempt per booking and per campaign, whatever the code does (architecture §3).
CREATE UNIQUE INDEX transactions_booking_pending ON payment_transactions (booking_id) WHERE status = 'PENDING';
CREATE UNIQUE INDEX transactions_campaign_pending ON payment_transactions (ad_campaign_id) WHERE status = 'PENDING';
CREATE UNIQUE INDEX transactions_booking_paid ON payment_transactions (booking_id) WHERE status = 'PAID';
CREATE UNIQUE INDEX transactions_campaign_paid ON payment_transactions (ad_campaign_id) WHERE status = 'PAID';
CREATE UNIQUE INDEX transactions_reference ON payment_transactions (gateway, reference) WHERE kind = 'PAYMENT' AND reference IS NOT NULL;
CREATE INDEX transactions_parent ON payment_transactions (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX transactions_user ON payment_transactions (user_id);
CREATE INDEX transactions_provider ON payment_transactions (provider_id);
CREATE INDEX transactions_created ON payment_transactions (created_at DESC, id);
CREATE INDEX transactions_stale ON payment_transactions (expires_at) WHERE status = 'PENDING';

-- Written by a trigger, so that no code path can change a state without leaving its trace in the timeline.
CREATE TABLE transaction_state_changes (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transaction_id uuid NOT NULL REFERENCES payment_transactions (id),
    from_status    text,
    to_status      text NOT NULL,
    failure_code   text,
    changed_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX transaction_state_changes_transaction ON transaction_state_changes (transaction_id, id);

CREATE FUNCTION record_transaction_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO transaction_state_changes (transaction_id, from_status, to_status, failure_code)
    VALUES (NEW.id, CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status, NEW.failure_code);
    RETURN NULL;
END $$;
CREATE TRIGGER transactions_inserted AFTER INSERT ON payment_transactions
    FOR EACH ROW EXECUTE FUNCTION record_transaction_state();
CREATE TRIGGER transactions_moved AFTER UPDATE OF status ON payment_transactions
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION record_transaction_state();

CREATE TABLE refunds (
    id                     uuid PRIMARY KEY, -- UUIDv5, architecture §3; also the gateway's idempotency key
    payment_transaction_id uuid NOT NULL REFERENCES payment_transactions (id),
    refund_transaction_id  uuid REFERENCES payment_transactions (id),
    booking_id             uuid REFERENCES bookings (id),
    ad_campaign_id         uuid REFERENCES ad_campaigns (id),
    refund_type            text NOT NULL CHECK (refund_type IN ('FULL', 'PARTIAL', 'POLICY')),
    amount                 numeric(14, 2) NOT NULL CHECK (amount > 0),
    currency               text NOT NULL DEFAULT 'SAR' CHECK (currency = 'SAR'),
    status                 text NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'SUCCEEDED', 'FAILED')),
    failure_code           text,
    failure_reason         text NOT NULL DEFAULT '',
    gateway_refund_id      text,
    reason                 text NOT NULL DEFAULT '',
    requested_by           uuid REFERENCES users (id), -- NULL: the service itself (late payments)
    request_id             text NOT NULL DEFAULT '',
    created_at             timestamptz NOT NULL DEFAULT now(),
    updated_at             timestamptz NOT NULL DEFAULT now(),
    completed_at           timestamptz,
    CONSTRAINT refunds_one_subject CHECK (num_nonnulls(booking_id, ad_campaign_id) = 1),
    CONSTRAINT refunds_success CHECK ((status = 'SUCCEEDED') = (refund_transaction_id IS NOT NULL)),
    CONSTRAINT refunds_failure CHECK ((status = 'FAILED') = (failure_code IS NOT NULL)),
    CONSTRAINT refunds_completed CHECK ((status = 'PENDING') = (completed_at IS NULL))
);
CREATE INDEX refunds_transaction ON refunds (payment_transaction_id);
CREATE INDEX refunds_booking ON refunds (booking_id);
CREATE INDEX refunds_created ON refunds (created_at DESC, id);
CREATE INDEX refunds_pending ON refunds (created_at) WHERE status = 'PENDING';

-- Every signed webhook, stored before it is answered. processed_at is set in the SQL transaction of its effect.
CREATE TABLE webhook_events (
    id                 uuid PRIMARY KEY,
    channel            text NOT NULL CHECK (channel IN ('gateway_a', 'wallet_b', 'wallet_a', 'bill_payment')),
    webhook_id         text NOT NULL,
    type               text NOT NULL,
    transaction_id     uuid REFERENCES payment_transactions (id),
    refund_id          uuid REFERENCES refunds (id),
    checkout_id        text NOT NULL DEFAULT '',
    merchant_reference text NOT NULL DEFAULT '',
    amount             numeric(14, 2),
    currency           text NOT NULL DEFAULT '',
    payment_method     text NOT NULL DEFAULT '',
    result_code        text NOT NULL DEFAULT '',
    failure_reason     text NOT NULL DEFAULT '',
    gateway_refund_id  text NOT NULL DEFAULT '',
    occurred_at        timestamptz NOT NULL,
    received_at        timestamptz NOT NULL DEFAULT now(),
    processed_at       timestamptz,
    outcome            text NOT NULL DEFAULT '',
    UNIQUE (channel, webhook_id)
);
CREATE INDEX webhook_events_transaction ON webhook_events (transaction_id);
CREATE INDEX webhook_events_refund ON webhook_events (refund_id) WHERE refund_id IS NOT NULL;
CREATE INDEX webhook_events_unprocessed ON webhook_events (received_at) WHERE processed_at IS NULL;

CREATE TABLE incidents (
    id                     uuid PRIMARY KEY,
    kind                   text NOT NULL CHECK (kind IN ('AMOUNT_MISMATCH', 'CURRENCY_MISMATCH', 'LATE_PAYMENT', 'REFUND_FAILED',
                                                         'UNKNOWN_REFERENCE', 'GATEWAY_OUTAGE', 'AUDIT_DIFFERENCE')),
    status                 text NOT NULL DEFAULT 'OPEN' CHECK (status IN ('OPEN', 'RESOLVED')),
    payment_transaction_id uuid REFERENCES payment_transactions (id),
    booking_id             uuid REFERENCES bookings (id),
    ad_campaign_id         uuid REFERENCES ad_campaigns (id),
    refund_id              uuid REFERENCES refunds (id),
    message                text NOT NULL,
    details                jsonb NOT NULL DEFAULT '{}',
    workflow_id            text NOT NULL DEFAULT '',
    created_at             timestamptz NOT NULL DEFAULT now(),
    resolved_at            timestamptz,
    resolved_by            uuid REFERENCES users (id),
    note                   text NOT NULL DEFAULT '',
    CONSTRAINT incidents_resolved CHECK ((status = 'RESOLVED') = (resolved_at IS NOT NULL))
);
CREATE INDEX incidents_created ON incidents (created_at DESC, id);
CREATE INDEX incidents_transaction ON incidents (payment_transaction_id);

-- The outbox: queued in the transaction of the effect, delivered by an activity, once per (transaction, kind, channel).
CREATE TABLE notifications (
    id              uuid PRIMARY KEY,
    transaction_id  uuid NOT NULL REFERENCES payment_transactions (id),
    kind            text NOT NULL,
    channel         text NOT NULL CHECK (channel IN ('EMAIL', 'SMS')),
    locale          text NOT NULL CHECK (locale IN ('ar', 'en')),
    recipient       text NOT NULL,
    data            jsonb NOT NULL DEFAULT '{}',
    status          text NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'SENT', 'FAILED')),
    attempts        int NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    last_error      text NOT NULL DEFAULT '',
    created_at      timestamptz NOT NULL DEFAULT now(),
    sent_at         timestamptz,
    UNIQUE (transaction_id, kind, channel),
    CONSTRAINT notifications_sent CHECK ((status = 'SENT') = (sent_at IS NOT NULL))
);
CREATE INDEX notifications_due ON notifications (next_attempt_at) WHERE status = 'PENDING';
