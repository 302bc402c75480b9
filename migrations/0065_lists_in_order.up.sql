-- Lists of payments by their amount: without an index a page of the largest reads and sorts all of them. Not in one transaction: the index
-- is made beside the work on payments, and the drop of one that is half made gives up after 3 s. It can be run again after a failure.
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';

    IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('transactions_amount') AND NOT indisvalid) THEN
        DROP INDEX transactions_amount;
    END IF;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS transactions_amount ON payment_transactions (amount, id);
