-- What each account held at a moment that a full audit has proven: the audits in between begin there. Only rihla audit --seal, as the
-- owner, writes rows, and nothing changes them.
CREATE TABLE balance_snapshots (
    until    timestamptz NOT NULL, -- earlier transfers are in the balance
    account  text NOT NULL,
    balance  numeric NOT NULL,     -- of the transfers' amounts, credit less debit
    taken_at timestamptz NOT NULL DEFAULT now() CHECK (taken_at > until),
    PRIMARY KEY (until, account)
);

CREATE FUNCTION refuse_snapshot_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'balance_snapshots is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER snapshots_append_only BEFORE UPDATE OR DELETE ON balance_snapshots FOR EACH ROW EXECUTE FUNCTION refuse_snapshot_change();
CREATE TRIGGER snapshots_no_truncate BEFORE TRUNCATE ON balance_snapshots FOR EACH STATEMENT EXECUTE FUNCTION refuse_snapshot_change();
