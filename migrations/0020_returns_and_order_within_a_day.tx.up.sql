-- Customers come back from the gateway through an address of the service, and ledger entries of a day have an order.

-- return_base is the public address of the API that took the request, return_url where the app wants its customer back.
ALTER TABLE bookings ADD COLUMN return_base text NOT NULL DEFAULT '';
ALTER TABLE ad_campaigns ADD COLUMN return_base text NOT NULL DEFAULT '';

-- return_id is random and opens the redirect of one attempt. Attempts of older versions have none: their gateway was given
-- return_url itself.
ALTER TABLE payment_transactions
    ADD COLUMN return_base text NOT NULL DEFAULT '',
    ADD COLUMN return_id uuid,
    ADD CONSTRAINT transactions_return CHECK (return_id IS NULL OR (kind = 'PAYMENT' AND return_url <> '' AND return_base <> ''));
CREATE UNIQUE INDEX transactions_return_id ON payment_transactions (return_id) WHERE return_id IS NOT NULL;

-- Within a day the list and the exports of ledger entries go by when these were written: their ids are derived, and in no order.
DROP INDEX records_date, records_provider_date, records_text;
CREATE INDEX records_date ON financial_records (record_date DESC, created_at DESC, id) INCLUDE (balance_status, text_id);
CREATE INDEX records_provider_date ON financial_records (provider_id, record_date DESC, created_at DESC, id)
    INCLUDE (balance_status, text_id);
CREATE INDEX records_text ON financial_records (text_id, record_date DESC, created_at DESC, id) INCLUDE (provider_id, balance_status);
