-- How an opening of the attempt was answered without success, as of refunds, and since when that is so: something may have an effect of
-- which nothing is known here. What gateways say about it counts when it has had its time since then, however old the attempt is.
-- NULL: nothing of that kind was heard.
ALTER TABLE payment_transactions
    ADD COLUMN sent_answer text CHECK (sent_answer IN ('UNKNOWN', 'CONFLICT', 'REFUSED')),
    ADD COLUMN unsettled_at timestamptz,
    ADD CHECK ((sent_answer IS NULL) = (unsettled_at IS NULL));
