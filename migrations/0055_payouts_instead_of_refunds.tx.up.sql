-- A refund that its gateway has refused, or whose account is gone, is paid out of the platform's bank by a manual payout of its own: the
-- one that it is paid instead of stays FAILED, and is paid out once.
ALTER TABLE refunds
    ADD COLUMN instead_of uuid UNIQUE REFERENCES refunds (id),
    ADD COLUMN account_gone_at timestamptz, -- since when no driver is configured for the account that took the payment
    ADD CONSTRAINT refunds_instead_by_hand CHECK (instead_of IS NULL OR channel = 'MANUAL');

CREATE OR REPLACE FUNCTION guard_refund_channel() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.instead_of IS NOT NULL THEN
            IF NEW.channel <> 'MANUAL' OR NOT EXISTS (
                SELECT FROM refunds AS o WHERE o.id = NEW.instead_of AND o.status = 'FAILED' AND o.channel = 'GATEWAY'
                    AND (o.payment_transaction_id, o.amount, o.currency) = (NEW.payment_transaction_id, NEW.amount, NEW.currency)
                    AND o.requested_by IS NOT DISTINCT FROM NEW.requested_by
                    AND (o.approval_until IS NULL OR EXISTS (
                        SELECT FROM refund_approvals WHERE refund_id = o.id AND decision = 'APPROVED'))) THEN
                RAISE EXCEPTION 'nothing is paid out instead of this refund' USING ERRCODE = 'restrict_violation';
            END IF;
        ELSIF (NEW.channel = 'MANUAL') <> EXISTS (
            SELECT FROM payment_transactions WHERE id = NEW.payment_transaction_id
                AND (payment_method = 'bill_payment' OR coalesce(captured_currency, 'SAR') <> 'SAR')) THEN
            RAISE EXCEPTION 'a refund of this payment does not go by %', NEW.channel USING ERRCODE = 'restrict_violation';
        END IF;
    ELSIF NEW.channel <> OLD.channel OR NEW.instead_of IS DISTINCT FROM OLD.instead_of THEN
        RAISE EXCEPTION 'the way of a refund never changes' USING ERRCODE = 'restrict_violation';
    ELSIF NEW.channel = 'MANUAL' AND NEW.status <> 'PENDING' AND NOT EXISTS (
        SELECT FROM refund_payouts WHERE refund_id = NEW.id
            AND decision = CASE NEW.status WHEN 'SUCCEEDED' THEN 'PAID_OUT' ELSE 'REJECTED' END)
        AND NOT (NEW.status = 'FAILED' AND EXISTS (
            SELECT FROM refund_approvals WHERE refund_id = NEW.id AND decision <> 'APPROVED')) THEN
        RAISE EXCEPTION 'nobody has decided that the refund is %', NEW.status USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
