-- On which channel the gateway reports a payment. Its channel tells the account at the gateway too: an attempt stays at the one at
-- which it was opened. A refund's transaction has the channel of the payment.
ALTER TABLE payment_transactions ADD COLUMN channel text;
UPDATE payment_transactions SET channel = CASE payment_method
    WHEN 'wallet_a' THEN 'wallet_a' WHEN 'wallet_b' THEN 'wallet_b' WHEN 'bill_payment' THEN 'bill_payment' ELSE 'gateway_a' END;
ALTER TABLE payment_transactions
    ALTER COLUMN channel SET NOT NULL,
    ADD CONSTRAINT transactions_channel CHECK (CASE gateway
        WHEN 'wallet_b' THEN channel IN ('wallet_b', 'wallet_b_backup')
        ELSE channel IN ('gateway_a', 'wallet_a', 'bill_payment', 'gateway_a_backup') END);

-- Workers of the version before, which run until they are replaced, know no channels.
CREATE FUNCTION set_transaction_channel() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.channel = CASE NEW.payment_method
        WHEN 'wallet_a' THEN 'wallet_a' WHEN 'wallet_b' THEN 'wallet_b' WHEN 'bill_payment' THEN 'bill_payment' ELSE 'gateway_a' END;

    RETURN NEW;
END $$;
CREATE TRIGGER transactions_channel_set BEFORE INSERT ON payment_transactions
    FOR EACH ROW WHEN (NEW.channel IS NULL) EXECUTE FUNCTION set_transaction_channel();

ALTER TABLE webhook_events DROP CONSTRAINT webhook_events_channel_check,
    ADD CONSTRAINT webhook_events_channel_check
        CHECK (channel IN ('gateway_a', 'wallet_b', 'wallet_a', 'bill_payment', 'gateway_a_backup', 'wallet_b_backup'));

-- What is asked about is looked for by channel now.
DROP INDEX transactions_to_ask, transactions_to_check, transactions_waited_for;
CREATE INDEX transactions_to_ask ON payment_transactions (channel, (COALESCE(asked_at, created_at)))
    WHERE status = 'PENDING' AND reference IS NOT NULL;
CREATE INDEX transactions_to_check ON payment_transactions (channel, check_at)
    WHERE status = 'FAILED' AND captured_at IS NULL AND check_at IS NOT NULL;
CREATE INDEX transactions_waited_for ON payment_transactions (channel, check_at)
    WHERE status = 'PENDING' AND check_at IS NOT NULL;

-- An attempt moves to another account once, before anything of it was sent to the first.
CREATE FUNCTION guard_transaction_channel() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.channel IS DISTINCT FROM OLD.channel AND (OLD.status <> 'PENDING' OR OLD.reference IS NOT NULL
            OR OLD.sent_answer IS NOT NULL OR OLD.channel LIKE '%\_backup' OR NEW.channel NOT LIKE '%\_backup') THEN
        RAISE EXCEPTION 'a payment stays at the account at which it was opened' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER transactions_channel_kept BEFORE UPDATE OF channel ON payment_transactions
    FOR EACH ROW EXECUTE FUNCTION guard_transaction_channel();

-- What has been given back of a payment before a refund of it was first sent, where the gateway keeps no refunds but only their sum.
-- Such refunds of one payment go one at a time, or it could not be told whose the difference is.
ALTER TABLE refunds ADD COLUMN refunded_before numeric(14, 2) CHECK (refunded_before >= 0),
    ADD CONSTRAINT refunds_before_sent CHECK (refunded_before IS NULL OR sends > 0);
CREATE UNIQUE INDEX refunds_one_by_sum ON refunds (payment_transaction_id) WHERE refunded_before IS NOT NULL AND status = 'PENDING';

-- Which kinds of calls an account takes none of, and until when: what workers have found out, for the API.
CREATE TABLE gateway_outages (
    account    text NOT NULL CHECK (account IN ('gateway_a', 'gateway_a_backup', 'wallet_b', 'wallet_b_backup')),
    calls      text NOT NULL CHECK (calls IN ('checkout', 'cancel', 'refund', 'status')),
    reason     text NOT NULL,
    until      timestamptz NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account, calls)
);

-- A customer's bank demands a payment back.
ALTER TABLE incidents DROP CONSTRAINT incidents_kind_check;
ALTER TABLE incidents ADD CONSTRAINT incidents_kind_check CHECK (kind IN (
    'AMOUNT_MISMATCH', 'CURRENCY_MISMATCH', 'LATE_PAYMENT', 'REFUND_FAILED', 'UNKNOWN_REFERENCE', 'GATEWAY_OUTAGE', 'AUDIT_DIFFERENCE',
    'REFUND_MISMATCH', 'REFUND_WITHOUT_ORDER', 'UNKNOWN_EVENT', 'WEBHOOK_ID_REUSED', 'REFERENCE_CONFLICT', 'PAYMENT_DISPUTED'));
