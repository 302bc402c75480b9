-- One open incident per gateway that does not answer, whichever worker sees it first. Those about a single attempt, which
-- has expired and whose gateway does not say how it stands, are per attempt, as before.
CREATE UNIQUE INDEX incidents_outage_open ON incidents ((details ->> 'gateway'))
    WHERE kind = 'GATEWAY_OUTAGE' AND status = 'OPEN' AND payment_transaction_id IS NULL;

-- How far the sweep has come in a list that is longer than what it takes on at once: the next one goes on behind it, so
-- that what has been left behind for long does not keep the sweep from what has been left behind since.
CREATE TABLE sweep_turns (
    list       text PRIMARY KEY CHECK (list <> ''),
    at         timestamptz NOT NULL,
    id         uuid NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- When the gateway was last asked how an open attempt stands because its channel's webhooks had fallen silent. The attempt
-- that was asked about longest ago, or never, is next.
ALTER TABLE payment_transactions ADD COLUMN asked_at timestamptz;
CREATE INDEX transactions_to_ask ON payment_transactions (payment_method, (COALESCE(asked_at, created_at)))
    WHERE status = 'PENDING' AND reference IS NOT NULL;

-- When a channel was last heard of. What the gateway said because it was asked is not a webhook.
CREATE INDEX webhook_events_heard ON webhook_events (channel, received_at) WHERE webhook_id NOT LIKE 'status-query:%';
