-- When a gateway took money, at which rate of commission, and what it said: kept as it was, and never changed afterwards.

-- The platform's share, copied from the company when the attempt is opened, as the VAT rate is. Of advertising, which is the
-- platform's, it is 1; of a claw-back, which has no commission, 0. Every entry then is gross × rate, and the audit recomputes it.
ALTER TABLE payment_transactions ADD COLUMN commission_rate numeric(5, 4) CHECK (commission_rate BETWEEN 0 AND 1);
ALTER TABLE financial_records ADD COLUMN commission_rate numeric(5, 4) CHECK (commission_rate BETWEEN 0 AND 1);

-- What is there already was settled at a rate that was kept nowhere: the company's own where that makes the commission, else the
-- one of four decimals that does. An attempt that is still open gets the company's.
UPDATE payment_transactions AS t SET commission_rate = CASE
    WHEN t.ad_campaign_id IS NOT NULL THEN 1
    WHEN sold.id IS NULL OR round(sold.gross * p.commission_rate, 2) = sold.commission THEN p.commission_rate
    ELSE round(sold.commission / sold.gross, 4) END
FROM payment_transactions AS o
JOIN providers AS p ON p.id = o.provider_id
LEFT JOIN (
    SELECT payment_transaction_id AS id, sum(gross_amount) AS gross, sum(platform_commission_amount) AS commission
    FROM financial_records WHERE kind = 'SALE' GROUP BY payment_transaction_id) AS sold ON sold.id = coalesce(o.parent_id, o.id)
WHERE o.id = t.id;

-- The sums of the reports do not depend on it.
ALTER TABLE financial_records DISABLE TRIGGER USER;
UPDATE financial_records AS r SET commission_rate = CASE r.kind WHEN 'CLAWBACK' THEN 0 ELSE t.commission_rate END
FROM payment_transactions AS t WHERE t.id = r.payment_transaction_id;
ALTER TABLE financial_records ENABLE TRIGGER USER;

-- A worker of an older version, which would go by another rate, is refused here, and a newer one takes over.
ALTER TABLE payment_transactions ALTER COLUMN commission_rate SET NOT NULL;
ALTER TABLE financial_records ALTER COLUMN commission_rate SET NOT NULL;

CREATE FUNCTION refuse_rate_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the commission rate of % never changes', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER transactions_rate_kept BEFORE UPDATE OF commission_rate ON payment_transactions
    FOR EACH ROW WHEN (OLD.commission_rate IS DISTINCT FROM NEW.commission_rate) EXECUTE FUNCTION refuse_rate_change();
CREATE TRIGGER records_rate_kept BEFORE UPDATE OF commission_rate ON financial_records
    FOR EACH ROW WHEN (OLD.commission_rate IS DISTINCT FROM NEW.commission_rate) EXECUTE FUNCTION refuse_rate_change();

-- The body that was signed, byte for byte, and the headers that prove it. NULL: the gateway was asked and answered, or the
-- webhook came before this migration.
ALTER TABLE webhook_events
    ADD COLUMN body text,
    ADD COLUMN signature text,
    ADD CONSTRAINT webhook_events_signed CHECK ((body IS NULL) = (signature IS NULL));

-- What was received stays as it was received. What became of it is written later: whose it is, when it was dealt with, and how.
CREATE FUNCTION refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a gateway said is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER events_append_only BEFORE DELETE OR UPDATE OF id, channel, webhook_id, type, checkout_id, merchant_reference, amount,
    currency, payment_method, result_code, failure_reason, gateway_refund_id, occurred_at, received_at, body, signature ON webhook_events
    FOR EACH ROW EXECUTE FUNCTION refuse_event_change();
CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON webhook_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_event_change();

ALTER TABLE incidents DROP CONSTRAINT incidents_kind_check;
ALTER TABLE incidents ADD CONSTRAINT incidents_kind_check CHECK (kind IN (
    'AMOUNT_MISMATCH', 'CURRENCY_MISMATCH', 'LATE_PAYMENT', 'REFUND_FAILED', 'UNKNOWN_REFERENCE', 'GATEWAY_OUTAGE', 'AUDIT_DIFFERENCE',
    'REFUND_MISMATCH', 'REFUND_WITHOUT_ORDER', 'UNKNOWN_EVENT', 'WEBHOOK_ID_REUSED', 'REFERENCE_CONFLICT'));
