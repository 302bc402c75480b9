-- The statement that people work with, and the transfers that prove it.

CREATE SEQUENCE financial_record_numbers;

CREATE TABLE financial_records (
    id                         uuid PRIMARY KEY,
    transaction_number         text NOT NULL UNIQUE,
    kind                       text NOT NULL CHECK (kind IN ('SALE', 'ADVERTISING', 'CLAWBACK')),
    payment_transaction_id     uuid NOT NULL REFERENCES payment_transactions (id),
    provider_id                uuid NOT NULL REFERENCES providers (id),
    booking_id                 uuid REFERENCES bookings (id),
    ad_campaign_id             uuid REFERENCES ad_campaigns (id),
    refund_id                  uuid REFERENCES refunds (id), -- the refund that made this entry REFUNDED, or claws back
    split_from                 uuid REFERENCES financial_records (id),
    gross_amount               numeric(14, 2) NOT NULL,
    platform_commission_amount numeric(14, 2) NOT NULL,
    net_amount                 numeric(14, 2) NOT NULL,
    vat_amount                 numeric(14, 2) NOT NULL,
    refunded_amount            numeric(14, 2) NOT NULL DEFAULT 0,
    currency                   text NOT NULL DEFAULT 'SAR' CHECK (currency = 'SAR'),
    trip_title                 text NOT NULL DEFAULT '',
    details                    text NOT NULL DEFAULT '',
    record_date                date NOT NULL, -- the day in Riyadh
    balance_status             text NOT NULL CHECK (balance_status IN ('IN_CURRENT_BALANCE', 'TRANSFERRED', 'REFUNDED')),
    payout_reference           text,
    payout_date                date,
    transferred_at             timestamptz,
    created_at                 timestamptz NOT NULL DEFAULT now(),
    updated_at                 timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT records_one_subject CHECK (num_nonnulls(booking_id, ad_campaign_id) = 1),
    CONSTRAINT records_add_up CHECK (gross_amount = platform_commission_amount + net_amount),
    CONSTRAINT records_sign CHECK (CASE kind WHEN 'CLAWBACK'
        THEN gross_amount < 0 AND platform_commission_amount = 0 AND vat_amount = 0 AND refund_id IS NOT NULL
        ELSE gross_amount > 0 AND platform_commission_amount >= 0 AND net_amount >= 0 AND vat_amount BETWEEN 0 AND gross_amount END),
    CONSTRAINT records_refunded CHECK (refunded_amount = CASE balance_status WHEN 'REFUNDED' THEN gross_amount ELSE 0 END),
    CONSTRAINT records_transferred CHECK (balance_status <> 'TRANSFERRED' OR transferred_at IS NOT NULL),
    CONSTRAINT records_in_balance CHECK (balance_status <> 'IN_CURRENT_BALANCE' OR transferred_at IS NULL)
);
-- One live entry per payment: what a refund splits, and what a second settlement would violate.
CREATE UNIQUE INDEX records_live ON financial_records (payment_transaction_id)
    WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED';
CREATE UNIQUE INDEX records_refund ON financial_records (refund_id, kind) WHERE refund_id IS NOT NULL;
CREATE INDEX records_transaction ON financial_records (payment_transaction_id);
CREATE INDEX records_date ON financial_records (record_date DESC, id DESC);
CREATE INDEX records_provider_date ON financial_records (provider_id, record_date DESC, id DESC);
CREATE INDEX records_booking ON financial_records (booking_id) WHERE booking_id IS NOT NULL;
CREATE INDEX records_campaign ON financial_records (ad_campaign_id) WHERE ad_campaign_id IS NOT NULL;

-- One row moves one amount from the debit account to the credit account: balanced by construction.
CREATE TABLE ledger_transfers (
    id             uuid PRIMARY KEY, -- UUIDv5 of what caused it and its kind
    debit_account  text NOT NULL,
    credit_account text NOT NULL,
    amount         numeric(14, 2) NOT NULL CHECK (amount > 0),
    kind           text NOT NULL,
    transaction_id uuid NOT NULL REFERENCES payment_transactions (id),
    refund_id      uuid REFERENCES refunds (id),
    record_id      uuid REFERENCES financial_records (id),
    created_at     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT transfers_two_accounts CHECK (debit_account <> credit_account)
);
CREATE INDEX transfers_debit ON ledger_transfers (debit_account, created_at);
CREATE INDEX transfers_credit ON ledger_transfers (credit_account, created_at);
CREATE INDEX transfers_transaction ON ledger_transfers (transaction_id);
CREATE INDEX transfers_refund ON ledger_transfers (refund_id) WHERE refund_id IS NOT NULL;
CREATE INDEX transfers_record ON ledger_transfers (record_id) WHERE record_id IS NOT NULL;

CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'ledger_transfers is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER transfers_append_only BEFORE UPDATE OR DELETE ON ledger_transfers
    FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER transfers_no_truncate BEFORE TRUNCATE ON ledger_transfers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
