-- Which request has opened an attempt: of several at the same moment one gets 201, and the others 200.

-- The name of the request, made of its Idempotency-Key. NULL: attempts of older versions, which named none.
ALTER TABLE payment_transactions ADD COLUMN opened_for uuid;
