-- A payout's reference is looked for among manual payouts, too: when a user says that it is new, and in the search of refunds.
-- The table has one row for each such refund; the index is made in one short step.
CREATE INDEX refund_payouts_reference ON refund_payouts USING gin (search_fold(payout_reference) gin_trgm_ops)
    WHERE payout_reference IS NOT NULL;
