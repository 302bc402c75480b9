-- What a payment was paid by, where that is another method than the customer had chosen: a company's own page offers all that it has.
-- Refunds go by it (decision 0092). Not in one transaction: what was taken before is looked up beside the work on payments. All of it can be
-- run again after a failure half-way.
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';

    ALTER TABLE payment_transactions ADD COLUMN IF NOT EXISTS paid_by text;
    ALTER TABLE payment_transactions
        DROP CONSTRAINT IF EXISTS transactions_paid_by,
        ADD CONSTRAINT transactions_paid_by CHECK (
            paid_by IS NULL
            OR (paid_by IN ('credit_card', 'debit_network', 'wallet_a', 'wallet_b', 'bill_payment') AND paid_by <> payment_method
                AND (kind = 'REFUND' OR captured_at IS NOT NULL OR suspense_at IS NOT NULL))) NOT VALID;
END $$;
--bun:split
ALTER TABLE payment_transactions VALIDATE CONSTRAINT transactions_paid_by;
--bun:split
-- Of what was taken before, the events know it. A payment of which something has been ordered back stays as it is: those refunds went by the
-- method that was chosen.
UPDATE payment_transactions AS t SET paid_by = e.payment_method
FROM webhook_events AS e
WHERE e.transaction_id = t.id AND e.type = 'payment.succeeded' AND e.outcome = 'APPLIED' AND t.kind = 'PAYMENT' AND t.captured_at IS NOT NULL
    AND t.paid_by IS NULL AND e.payment_method <> t.payment_method
    AND e.payment_method IN ('credit_card', 'debit_network', 'wallet_a', 'wallet_b', 'bill_payment')
    AND NOT EXISTS (SELECT FROM refunds AS f WHERE f.payment_transaction_id = t.id);
--bun:split
CREATE OR REPLACE FUNCTION refuse_paid_by_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a payment was paid by never changes' USING ERRCODE = 'restrict_violation';
END $$;
--bun:split
-- guard_refund_channel as 0055 has it, by what was paid. It has a name of its own, so that migrations between this and that leave it alone, and
-- asks for instead_of by its name, which refunds may not have yet.
CREATE OR REPLACE FUNCTION guard_refund_way() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    instead uuid := (to_jsonb(NEW) ->> 'instead_of')::uuid;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF instead IS NOT NULL THEN
            IF NEW.channel <> 'MANUAL' OR NOT EXISTS (
                SELECT FROM refunds AS o WHERE o.id = instead AND o.status = 'FAILED' AND o.channel = 'GATEWAY'
                    AND (o.payment_transaction_id, o.amount, o.currency) = (NEW.payment_transaction_id, NEW.amount, NEW.currency)
                    AND o.requested_by IS NOT DISTINCT FROM NEW.requested_by
                    AND (o.approval_until IS NULL OR EXISTS (
                        SELECT FROM refund_approvals WHERE refund_id = o.id AND decision = 'APPROVED'))) THEN
                RAISE EXCEPTION 'nothing is paid out instead of this refund' USING ERRCODE = 'restrict_violation';
            END IF;
        ELSIF (NEW.channel = 'MANUAL') <> EXISTS (
            SELECT FROM payment_transactions WHERE id = NEW.payment_transaction_id
                AND (coalesce(paid_by, payment_method) = 'bill_payment' OR coalesce(captured_currency, 'SAR') <> 'SAR')) THEN
            RAISE EXCEPTION 'a refund of this payment does not go by %', NEW.channel USING ERRCODE = 'restrict_violation';
        END IF;
    ELSIF NEW.channel <> OLD.channel OR (to_jsonb(OLD) ->> 'instead_of')::uuid IS DISTINCT FROM instead THEN
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
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';

    CREATE OR REPLACE TRIGGER transactions_paid_by_kept BEFORE UPDATE OF paid_by ON payment_transactions
        FOR EACH ROW WHEN (OLD.paid_by IS DISTINCT FROM NEW.paid_by AND (OLD.captured_at IS NOT NULL OR OLD.suspense_at IS NOT NULL))
        EXECUTE FUNCTION refuse_paid_by_change();
    CREATE OR REPLACE TRIGGER refunds_made BEFORE INSERT ON refunds FOR EACH ROW EXECUTE FUNCTION guard_refund_way();
    CREATE OR REPLACE TRIGGER refunds_moved BEFORE UPDATE OF status, channel ON refunds
        FOR EACH ROW EXECUTE FUNCTION guard_refund_way();
END $$;
