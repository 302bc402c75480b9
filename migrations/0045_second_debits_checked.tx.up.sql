-- What 0044 promised of new rows holds for all.
SET LOCAL lock_timeout = '3s';

ALTER TABLE payment_transactions
    VALIDATE CONSTRAINT payment_transactions_kind_check,
    VALIDATE CONSTRAINT payment_transactions_failure_code_check,
    VALIDATE CONSTRAINT transactions_refund_parent,
    VALIDATE CONSTRAINT transactions_second_debit;
