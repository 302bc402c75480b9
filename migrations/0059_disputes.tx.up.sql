-- A dispute of a payment: the customer's bank asks about it (INQUIRY) or has taken the money back for the time being (CHARGEBACK). The row
-- is what a company has told so far, by its own id of the dispute; its incident is where people deal with it. While a CHARGEBACK is not won
-- and its incident is open, the payment is disputed: nothing of it is refunded or paid out.
SET LOCAL lock_timeout = '3s';

CREATE TABLE disputes (
    id                     uuid PRIMARY KEY,
    payment_transaction_id uuid NOT NULL REFERENCES payment_transactions (id),
    incident_id            uuid NOT NULL REFERENCES incidents (id),
    gateway_dispute_id     text NOT NULL CHECK (gateway_dispute_id <> ''),
    kind                   text NOT NULL CHECK (kind IN ('INQUIRY', 'CHARGEBACK')),
    state                  text NOT NULL CHECK (state IN ('OPEN', 'WON', 'LOST', 'CLOSED')),
    amount                 numeric(14,2) CHECK (amount >= 0),
    currency               text NOT NULL DEFAULT '' CHECK (currency = '' OR currency ~ '^[A-Z]{3}$'),
    reason                 text NOT NULL DEFAULT '',
    due_at                 timestamptz,
    opened_at              timestamptz NOT NULL,
    closed_at              timestamptz,
    updated_at             timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT disputes_closed CHECK ((state = 'OPEN') = (closed_at IS NULL)),
    CONSTRAINT disputes_of_gateway UNIQUE (payment_transaction_id, gateway_dispute_id)
);

-- Older ones were incidents alone.
INSERT INTO disputes (id, payment_transaction_id, incident_id, gateway_dispute_id, kind, state, opened_at)
SELECT gen_random_uuid(), payment_transaction_id, id, 'incident:' || id, 'CHARGEBACK', 'OPEN', created_at
FROM incidents WHERE kind = 'PAYMENT_DISPUTED' AND status = 'OPEN' AND payment_transaction_id IS NOT NULL;
