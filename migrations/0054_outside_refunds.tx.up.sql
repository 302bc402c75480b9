-- Money that a gateway has given back without an order of the service: in the company's own dashboard, or by a refund that counted as
-- not made. Each sum that a gateway told is kept; what it comes to now leaves the gateway's account and counts against what is left of
-- the payment, until a person has decided what it was.
CREATE TABLE outside_refunds (
    payment_transaction_id uuid NOT NULL REFERENCES payment_transactions (id),
    n                      int NOT NULL CHECK (n >= 1),
    total_before           numeric(14, 2) NOT NULL CHECK (total_before >= 0), -- the total of the row before
    total                  numeric(14, 2) NOT NULL CHECK (total >= 0), -- given back without an order, in the currency that was taken
    gateway_refunded       numeric(14, 2) NOT NULL CHECK (gateway_refunded >= 0), -- the sum that the gateway told
    seen_at                timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (payment_transaction_id, n),
    CONSTRAINT outside_refunds_news CHECK (total <> total_before)
);

CREATE FUNCTION refuse_outside_refund_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'outside_refunds is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER outside_refunds_append_only BEFORE UPDATE OR DELETE ON outside_refunds
    FOR EACH ROW EXECUTE FUNCTION refuse_outside_refund_change();
CREATE TRIGGER outside_refunds_no_truncate BEFORE TRUNCATE ON outside_refunds
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_outside_refund_change();

-- outside_refunded_amount is the total as far as it fits beside what the service has given back and reserved: together they never exceed
-- what was taken. recheck_at is when the gateway is to be asked about a payment that it has taken, compared_at when it last answered.
ALTER TABLE payment_transactions
    ADD COLUMN outside_refunded_amount numeric(14, 2) NOT NULL DEFAULT 0 CHECK (outside_refunded_amount >= 0),
    ADD COLUMN recheck_at timestamptz,
    ADD COLUMN compared_at timestamptz,
    DROP CONSTRAINT transactions_refund_cap,
    ADD CONSTRAINT transactions_refund_cap CHECK (
        refunded_amount + refund_reserved_amount + outside_refunded_amount <= coalesce(captured_amount, amount)),
    DROP CONSTRAINT transactions_refund_of_captured,
    ADD CONSTRAINT transactions_refund_of_captured CHECK (
        num_nonnulls(captured_at, suspense_at) = 1 OR refunded_amount + refund_reserved_amount + outside_refunded_amount = 0);
CREATE INDEX transactions_recheck ON payment_transactions (channel, recheck_at) WHERE recheck_at IS NOT NULL;

-- The kinds that were there, and one more: migrations of other subjects add theirs, too.
DO $$
DECLARE
    kinds text;
BEGIN
    SELECT pg_get_constraintdef(oid) INTO STRICT kinds FROM pg_constraint
    WHERE conrelid = 'incidents'::regclass AND conname = 'incidents_kind_check';
    ALTER TABLE incidents DROP CONSTRAINT incidents_kind_check;
    EXECUTE format('ALTER TABLE incidents ADD CONSTRAINT incidents_kind_check %s',
        replace(kinds, 'ARRAY[', 'ARRAY[''OUTSIDE_REFUND''::text, '));
END $$;
