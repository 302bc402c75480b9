-- Since when the transaction of a refund, its document, carries the VAT that is contained in its own amount. Older ones, and those of older
-- workers, carry what was taken out of the ledger entry (decision 0084): each is audited by the rule that it was made by.
SET LOCAL lock_timeout = '3s';

ALTER TABLE refunds ADD COLUMN vat_of_amount boolean NOT NULL DEFAULT false;
