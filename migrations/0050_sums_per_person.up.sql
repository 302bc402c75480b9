-- What one person orders back, confirms as paid out and marks as transferred is bounded over all payments, and found by the person
-- (decision 0077). Not in one transaction: the indexes are made beside the work on their tables, and each change that locks gives up
-- after 3 s. All of it can be run again after a failure half-way.
DO $$ DECLARE half text; BEGIN
    SET LOCAL lock_timeout = '3s';

    -- The limit per person of the moment of the order; NULL: it is not counted (none was configured, the service itself ordered, another
    -- currency, or the trip was cancelled).
    ALTER TABLE refunds ADD COLUMN IF NOT EXISTS alone_above numeric(14, 2) CHECK (alone_above > 0);
    ALTER TABLE refunds
        DROP CONSTRAINT refunds_approval_of_order,
        ADD CONSTRAINT refunds_approval_of_order CHECK (
            approval_until IS NULL OR (coalesce(approval_above, alone_above) IS NOT NULL AND requested_by IS NOT NULL)) NOT VALID;

    FOR half IN
        SELECT i.indexrelid::regclass FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid
            AND c.relname IN ('refunds_of_requester', 'refund_approvals_of_person', 'refund_payouts_of_person', 'records_of_marker')
    LOOP
        EXECUTE 'DROP INDEX ' || half;
    END LOOP;
END $$;
--bun:split
ALTER TABLE refunds VALIDATE CONSTRAINT refunds_approval_of_order;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS refunds_of_requester ON refunds (requested_by, created_at) WHERE requested_by IS NOT NULL;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS refund_approvals_of_person ON refund_approvals (decided_by, decided_at)
    WHERE decided_by IS NOT NULL;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS refund_payouts_of_person ON refund_payouts (decided_by, decided_at);
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS records_of_marker ON financial_records (transferred_by, transferred_at)
    WHERE transferred_by IS NOT NULL;
--bun:split
CREATE OR REPLACE FUNCTION guard_refund_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    decided text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.approval_pending <> (NEW.approval_until IS NOT NULL)
            -- The order locks the payment, so that no other refund of it is ordered meanwhile.
            OR (NEW.approval_until IS NULL AND NEW.amount > NEW.approval_above - (
                SELECT coalesce(sum(amount), 0) FROM refunds
                WHERE payment_transaction_id = NEW.payment_transaction_id AND requested_by IS NOT NULL AND approval_until IS NULL
                    AND status <> 'FAILED'))
            -- And it locks the person, so that no other order of theirs is counted meanwhile.
            OR (NEW.approval_until IS NULL AND NEW.amount > NEW.alone_above - (
                SELECT coalesce(sum(amount), 0) FROM refunds
                WHERE requested_by = NEW.requested_by AND created_at > now() - interval '24 hours' AND alone_above IS NOT NULL
                    AND approval_until IS NULL AND status <> 'FAILED')) THEN
            RAISE EXCEPTION 'the refund needs an approval' USING ERRCODE = 'restrict_violation';
        END IF;

        RETURN NEW;
    END IF;

    IF (NEW.approval_above, NEW.alone_above, NEW.approval_until)
            IS DISTINCT FROM (OLD.approval_above, OLD.alone_above, OLD.approval_until)
        OR (NEW.approval_pending AND NOT OLD.approval_pending)
        OR (NEW.payment_transaction_id, NEW.amount, NEW.requested_by)
            IS DISTINCT FROM (OLD.payment_transaction_id, OLD.amount, OLD.requested_by) THEN
        RAISE EXCEPTION 'the terms of an approval never change' USING ERRCODE = 'restrict_violation';
    END IF;

    IF NEW.approval_until IS NOT NULL THEN
        decided := (SELECT decision FROM refund_approvals WHERE refund_id = NEW.id);

        IF decided IS DISTINCT FROM 'APPROVED' AND (
            NEW.sends > 0 OR NEW.status = 'SUCCEEDED' OR (NEW.status = 'PENDING' AND NOT NEW.approval_pending)
            OR (NEW.status = 'FAILED' AND NEW.failure_code IS DISTINCT FROM 'APPROVAL_' || decided)) THEN
            RAISE EXCEPTION 'the refund is not approved' USING ERRCODE = 'restrict_violation';
        END IF;
    END IF;

    RETURN NEW;
END $$;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';

    DROP TRIGGER refunds_approval_ordered ON refunds;
    CREATE TRIGGER refunds_approval_ordered BEFORE INSERT ON refunds
        FOR EACH ROW WHEN (NEW.approval_above IS NOT NULL OR NEW.alone_above IS NOT NULL OR NEW.approval_pending)
        EXECUTE FUNCTION guard_refund_approval();
    DROP TRIGGER refunds_approval_kept ON refunds;
    CREATE TRIGGER refunds_approval_kept BEFORE UPDATE ON refunds
        FOR EACH ROW WHEN (OLD.approval_until IS NOT NULL OR NEW.approval_until IS NOT NULL
            OR OLD.approval_above IS DISTINCT FROM NEW.approval_above OR OLD.alone_above IS DISTINCT FROM NEW.alone_above
            OR NEW.approval_pending
            -- Of one that needs no approval too: that follows from these.
            OR OLD.amount IS DISTINCT FROM NEW.amount OR OLD.requested_by IS DISTINCT FROM NEW.requested_by
            OR OLD.payment_transaction_id IS DISTINCT FROM NEW.payment_transaction_id)
        EXECUTE FUNCTION guard_refund_approval();
END $$;
