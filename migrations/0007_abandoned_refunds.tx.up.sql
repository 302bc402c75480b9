-- A refund that its caller was told would not happen: no later run may make it after all.
CREATE TABLE abandoned_refunds (
    id         uuid PRIMARY KEY, -- that of the refund which was asked for
    created_at timestamptz NOT NULL DEFAULT now()
);
