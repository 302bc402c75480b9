-- When the gateway is asked again whether it has taken money for an attempt that ended without any: that comes late, and its
-- webhook may be lost like any other. NULL: no more.
ALTER TABLE payment_transactions ADD COLUMN check_at timestamptz;
CREATE INDEX transactions_to_check ON payment_transactions (payment_method, check_at)
    WHERE status = 'FAILED' AND captured_at IS NULL AND check_at IS NOT NULL;

UPDATE payment_transactions SET check_at = now()
WHERE status = 'FAILED' AND captured_at IS NULL AND kind = 'PAYMENT'
    AND failure_code IN ('EXPIRED', 'CANCELLED', 'DECLINED') AND updated_at > now() - interval '1 day';
