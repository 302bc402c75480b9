-- One row for each second payment, whatever the code does; what of them the sweep gives back; and what 0044 requires of new rows holds for
-- all. Not in one transaction: the indexes are made beside the work on payments, and the drop of one that is half made gives up after 3 s.
-- It can be run again after a failure.
DO $$ DECLARE half text; BEGIN
    SET LOCAL lock_timeout = '3s';

    FOR half IN
        SELECT i.indexrelid::regclass FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid AND c.relname IN ('transactions_second_debits', 'transactions_second_debits_owed')
    LOOP
        EXECUTE 'DROP INDEX ' || half;
    END LOOP;
END $$;
--bun:split
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS transactions_second_debits ON payment_transactions (parent_id, gateway_payment_id)
    WHERE kind = 'SECOND_DEBIT';
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS transactions_second_debits_owed ON payment_transactions (captured_at)
    WHERE kind = 'SECOND_DEBIT' AND captured_at IS NOT NULL;
--bun:split
ALTER TABLE payment_transactions VALIDATE CONSTRAINT payment_transactions_kind_check;
--bun:split
ALTER TABLE payment_transactions VALIDATE CONSTRAINT payment_transactions_failure_code_check;
--bun:split
ALTER TABLE payment_transactions VALIDATE CONSTRAINT transactions_refund_parent;
--bun:split
ALTER TABLE payment_transactions VALIDATE CONSTRAINT transactions_second_debit;
