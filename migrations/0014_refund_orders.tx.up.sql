-- A refund's row is its order: written in one transaction with the idempotency key and the audit entry, before any workflow
-- knows of it. So no refund is given up before it begins, and the table that remembered those goes.
DROP TABLE abandoned_refunds;

-- The body of the request, as a SHA-256: the id of a refund derives from its Idempotency-Key, which outlives the kept answer.
ALTER TABLE refunds ADD COLUMN body_hash bytea CHECK (octet_length(body_hash) = 32);

-- What was sent to the gateway, written down before it is sent, and how the last sending was answered. As long as one may
-- still have its effect, the refund is neither made nor refused.
ALTER TABLE refunds
    ADD COLUMN sends int NOT NULL DEFAULT 0 CHECK (sends >= 0),
    ADD COLUMN sent_at timestamptz, -- the last one, by the clock of the database
    ADD COLUMN sent_answer text CHECK (sent_answer IN ('SENDING', 'UNKNOWN', 'CONFLICT', 'REFUSED')),
    ADD COLUMN conflicts int NOT NULL DEFAULT 0 CHECK (conflicts >= 0),
    ADD COLUMN refused_at timestamptz, -- when it counted as not made: nothing is sent any more
    ADD CONSTRAINT refunds_sent CHECK ((sends = 0) = (sent_at IS NULL) AND (sends = 0) = (sent_answer IS NULL)),
    ADD CONSTRAINT refunds_sent_by_gateway CHECK (channel = 'GATEWAY' OR (sends = 0 AND refused_at IS NULL));
UPDATE refunds SET sends = 1, sent_at = now(), sent_answer = 'UNKNOWN' WHERE status = 'PENDING' AND channel = 'GATEWAY';

-- The gateway's answer about a refund is stored as an event. Older refunds have their webhook, if it came.
ALTER TABLE refunds ADD COLUMN proof_due boolean NOT NULL DEFAULT true;
UPDATE refunds SET proof_due = false WHERE status = 'SUCCEEDED';

-- Late money that no refund was ordered for.
CREATE INDEX transactions_owed ON payment_transactions (captured_at, id)
    WHERE kind = 'PAYMENT' AND status = 'FAILED' AND captured_at IS NOT NULL;

ALTER TABLE incidents DROP CONSTRAINT incidents_kind_check, ADD CONSTRAINT incidents_kind_check
    CHECK (kind IN ('AMOUNT_MISMATCH', 'CURRENCY_MISMATCH', 'LATE_PAYMENT', 'REFUND_FAILED', 'UNKNOWN_REFERENCE',
                    'GATEWAY_OUTAGE', 'AUDIT_DIFFERENCE', 'REFUND_MISMATCH', 'REFUND_WITHOUT_ORDER'));
