-- A checkout that the customer paid once more after it had been settled: each further debit is a row of its own, FAILED from the beginning,
-- whose parent is the payment. It is owed to the customer, as money that came too late is. None of the indexes and statements that look for
-- attempts find it, those of replicas of the version before among them: its kind is its own.
SET LOCAL lock_timeout = '3s';

ALTER TABLE payment_transactions
    DROP CONSTRAINT payment_transactions_kind_check,
    ADD CONSTRAINT payment_transactions_kind_check CHECK (kind IN ('PAYMENT', 'REFUND', 'SECOND_DEBIT')) NOT VALID,
    DROP CONSTRAINT transactions_refund_parent,
    ADD CONSTRAINT transactions_refund_parent CHECK ((kind <> 'PAYMENT') = (parent_id IS NOT NULL)) NOT VALID,
    DROP CONSTRAINT payment_transactions_failure_code_check,
    ADD CONSTRAINT payment_transactions_failure_code_check CHECK (failure_code IN (
        'DECLINED', 'EXPIRED', 'CANCELLED', 'GATEWAY_REJECTED', 'AMOUNT_MISMATCH', 'CURRENCY_MISMATCH', 'PAID_TWICE')) NOT VALID,
    ADD CONSTRAINT transactions_second_debit CHECK (CASE WHEN kind = 'SECOND_DEBIT'
        THEN status = 'FAILED' AND gateway_payment_id IS NOT NULL AND reference IS NOT NULL
             AND num_nonnulls(captured_at, suspense_at) = 1
             AND failure_code = CASE WHEN suspense_at IS NULL THEN 'PAID_TWICE' ELSE 'CURRENCY_MISMATCH' END
        ELSE coalesce(failure_code, '') <> 'PAID_TWICE' END) NOT VALID;
