-- Some companies say of a refund that succeeded, days later, that it failed: the money is in the account there again, and the customer
-- has nothing. It stays SUCCEEDED, with when it came back; finance staff pay it out manually.
ALTER TABLE refunds
    ADD COLUMN returned_at timestamptz,
    ADD CONSTRAINT refunds_returned CHECK (returned_at IS NULL OR (status = 'SUCCEEDED' AND channel = 'GATEWAY'));
CREATE INDEX refunds_returned ON refunds (created_at DESC, id) WHERE returned_at IS NOT NULL;

CREATE FUNCTION refuse_return_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'that a refund came back never changes' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER refunds_returned_kept BEFORE UPDATE OF returned_at ON refunds
    FOR EACH ROW WHEN (OLD.returned_at IS NOT NULL AND OLD.returned_at IS DISTINCT FROM NEW.returned_at)
    EXECUTE FUNCTION refuse_return_change();

-- The requester of the money must not be the one who says that it was paid. What came back is owed, and cannot be rejected.
CREATE OR REPLACE FUNCTION guard_payout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM refunds WHERE id = NEW.refund_id
            AND (channel = 'MANUAL' AND status = 'PENDING' OR returned_at IS NOT NULL AND NEW.decision = 'PAID_OUT')
            AND (NEW.decision = 'REJECTED' OR requested_by IS DISTINCT FROM NEW.decided_by)) THEN
        RAISE EXCEPTION 'the payout cannot be decided so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;

-- Whether the company may take back with an event what it had said before.
ALTER TABLE webhook_events ADD COLUMN revises boolean NOT NULL DEFAULT false;
CREATE TRIGGER events_revision_kept BEFORE UPDATE OF revises ON webhook_events FOR EACH ROW EXECUTE FUNCTION refuse_event_change();

-- What the company calls the payment, where it names it without the checkout: a bank's dispute names nothing else.
ALTER TABLE payment_transactions ADD COLUMN gateway_payment_id text CHECK (gateway_payment_id <> '');
CREATE INDEX transactions_gateway_payment ON payment_transactions (gateway_payment_id) WHERE gateway_payment_id IS NOT NULL;
