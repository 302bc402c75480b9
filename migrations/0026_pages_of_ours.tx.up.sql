-- When an attempt's checkout was made at the gateway: at companies where no time can be asked for it is over a fixed time after that.
-- And what the page needs on which the customer pays, where that is a page of ours and the company gives only parts of it.
ALTER TABLE payment_transactions
    ADD COLUMN opened_at timestamptz,
    ADD COLUMN page_data jsonb CHECK (jsonb_typeof(page_data) = 'object');

-- What opens the page is random. The attempt's own id is in logs and in the company's books, and must not open where the app wants its
-- customer back.
CREATE UNIQUE INDEX transactions_page ON payment_transactions ((page_data ->> 'page')) WHERE page_data IS NOT NULL;
