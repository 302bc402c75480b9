-- Balances out of an index, the audit log by who, what and about what, one open incident per rule of the audit, and word
-- to open dashboards.

-- With the amount in them, the balance of an account at any moment is read from these two and never from the table.
CREATE INDEX transfers_debit_amount ON ledger_transfers (debit_account, created_at) INCLUDE (amount);
CREATE INDEX transfers_credit_amount ON ledger_transfers (credit_account, created_at) INCLUDE (amount);
DROP INDEX transfers_debit;
DROP INDEX transfers_credit;

-- The table only ever grows: without this, nothing would mark its pages as visible to all before a wraparound is near,
-- and every entry of the indexes above would be looked up in the table after all.
ALTER TABLE ledger_transfers SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 5000);

CREATE INDEX audit_log_actor ON audit_log (actor_id, created_at DESC, id) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_log_action ON audit_log (action, created_at DESC, id);
CREATE INDEX audit_log_about ON audit_log (entity, entity_id, created_at DESC, id);
CREATE INDEX audit_log_about_id ON audit_log (entity_id, created_at DESC, id) WHERE entity_id IS NOT NULL;
DROP INDEX audit_log_entity;

-- What the audit finds night after night is one incident, until a person resolves it.
CREATE UNIQUE INDEX incidents_audit_open ON incidents ((details ->> 'rule')) WHERE kind = 'AUDIT_DIFFERENCE' AND status = 'OPEN';

-- A process that shows a dashboard listens on `dashboard`. The notification is sent when the transaction commits, and never before.
CREATE FUNCTION announce_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('dashboard', json_build_object(
        'reason', CASE NEW.kind WHEN 'REFUND' THEN 'REFUND_COMPLETED' ELSE 'PAYMENT_SETTLED' END,
        'provider_id', NEW.provider_id)::text);
    RETURN NULL;
END $$;
CREATE TRIGGER payment_settled AFTER UPDATE OF status ON payment_transactions
    FOR EACH ROW WHEN (NEW.kind = 'PAYMENT' AND NEW.status = 'PAID' AND OLD.status <> 'PAID')
    EXECUTE FUNCTION announce_money();
CREATE TRIGGER refund_completed AFTER INSERT ON payment_transactions
    FOR EACH ROW WHEN (NEW.kind = 'REFUND')
    EXECUTE FUNCTION announce_money();
