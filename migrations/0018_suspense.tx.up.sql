-- Money that a gateway took in another amount or currency than was asked for. It pays for nothing and belongs to no sale until it
-- is given back: what was taken, in which currency, and when. Mismatches older than this migration stay in no account: it is not
-- known which of them have been given back at the gateway since.
ALTER TABLE payment_transactions
    ADD COLUMN captured_amount numeric(14, 2) CHECK (captured_amount > 0),
    ADD COLUMN captured_currency text CHECK (captured_currency <> ''),
    ADD COLUMN suspense_at timestamptz,
    ADD CONSTRAINT transactions_suspense CHECK (
        num_nonnulls(captured_amount, captured_currency, suspense_at) IN (0, 3)
        AND (suspense_at IS NULL OR (captured_at IS NULL AND failure_code IN ('AMOUNT_MISMATCH', 'CURRENCY_MISMATCH')))),
    DROP CONSTRAINT transactions_refund_cap,
    ADD CONSTRAINT transactions_refund_cap CHECK (refunded_amount + refund_reserved_amount <= coalesce(captured_amount, amount)),
    DROP CONSTRAINT transactions_refund_of_captured,
    ADD CONSTRAINT transactions_refund_of_captured CHECK (
        num_nonnulls(captured_at, suspense_at) = 1 OR refunded_amount + refund_reserved_amount = 0),
    -- Another currency than SAR is only that of money in suspense, and of its manual payout.
    DROP CONSTRAINT payment_transactions_currency_check,
    ADD CONSTRAINT payment_transactions_currency_check CHECK (currency = 'SAR' OR kind = 'REFUND');
CREATE INDEX transactions_suspense_undecided ON payment_transactions (suspense_at, id)
    WHERE suspense_at IS NOT NULL AND refunded_amount < captured_amount;

-- What was taken is written once, with the state, and never changes.
CREATE FUNCTION refuse_suspense_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a gateway took never changes' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER transactions_suspense_kept BEFORE UPDATE OF captured_amount, captured_currency, suspense_at ON payment_transactions
    FOR EACH ROW WHEN (OLD.suspense_at IS NOT NULL AND (OLD.captured_amount IS DISTINCT FROM NEW.captured_amount
                       OR OLD.captured_currency IS DISTINCT FROM NEW.captured_currency
                       OR OLD.suspense_at IS DISTINCT FROM NEW.suspense_at))
    EXECUTE FUNCTION refuse_suspense_change();

ALTER TABLE refunds
    DROP CONSTRAINT refunds_currency_check,
    ADD CONSTRAINT refunds_currency_check CHECK (currency = 'SAR' OR channel = 'MANUAL');

-- A manual payout is of a bill, or of money in another currency, which no gateway is asked to give back.
CREATE OR REPLACE FUNCTION guard_refund_channel() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF (NEW.channel = 'MANUAL') <> EXISTS (
            SELECT FROM payment_transactions WHERE id = NEW.payment_transaction_id
                AND (payment_method = 'bill_payment' OR coalesce(captured_currency, 'SAR') <> 'SAR')) THEN
            RAISE EXCEPTION 'a refund of this payment does not go by %', NEW.channel USING ERRCODE = 'restrict_violation';
        END IF;
    ELSIF NEW.channel <> OLD.channel THEN
        RAISE EXCEPTION 'the way of a refund never changes' USING ERRCODE = 'restrict_violation';
    ELSIF NEW.channel = 'MANUAL' AND NEW.status <> 'PENDING' AND NOT EXISTS (
        SELECT FROM refund_payouts WHERE refund_id = NEW.id
            AND decision = CASE NEW.status WHEN 'SUCCEEDED' THEN 'PAID_OUT' ELSE 'REJECTED' END) THEN
        RAISE EXCEPTION 'nobody has decided that the refund is %', NEW.status USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
