-- Which request has opened an attempt (of several at the same moment one gets 201, and the others 200), and whose customer waits.

-- The name of the request, made of its Idempotency-Key. NULL: attempts of older versions, which named none.
ALTER TABLE payment_transactions ADD COLUMN opened_for uuid;

-- An open attempt whose customer waits: the gateway is asked about it, whether webhooks come or not. check_at is since when.
CREATE INDEX transactions_waited_for ON payment_transactions (payment_method, check_at)
    WHERE status = 'PENDING' AND check_at IS NOT NULL;
