-- A gateway sends customers to an address of the service, which knows where they wanted to go.

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
