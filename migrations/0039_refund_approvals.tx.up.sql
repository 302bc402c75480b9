-- A refund that a person ordered and that is over a limit waits for the word of a second person. Of one payment at most the limit goes
-- back on one person's word, in however many parts.

-- The limit of the moment of the order, until when an approval may come, and whether the refund still waits for it to be taken up by its
-- workflow. approval_above is NULL without a limit and for refunds of the service itself, approval_until for those that need no approval.
ALTER TABLE refunds
    ADD COLUMN approval_above numeric(14, 2) CHECK (approval_above > 0),
    ADD COLUMN approval_until timestamptz,
    ADD COLUMN approval_pending boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT refunds_approval_needed CHECK (approval_above IS NULL OR amount <= approval_above OR approval_until IS NOT NULL),
    ADD CONSTRAINT refunds_approval_of_order CHECK (approval_until IS NULL OR (approval_above IS NOT NULL AND requested_by IS NOT NULL)),
    ADD CONSTRAINT refunds_approval_pending CHECK (
        NOT approval_pending OR (approval_until IS NOT NULL AND status = 'PENDING' AND sends = 0));
CREATE INDEX refunds_approval_waits ON refunds (created_at DESC, id) WHERE approval_pending;

-- What was decided, once and for all. EXPIRED is the service's own: its time was over.
CREATE TABLE refund_approvals (
    refund_id  uuid PRIMARY KEY REFERENCES refunds (id),
    decision   text NOT NULL CHECK (decision IN ('APPROVED', 'REJECTED', 'EXPIRED')),
    decided_by uuid REFERENCES users (id),
    note       text NOT NULL DEFAULT '' CHECK (char_length(note) <= 500), -- of a rejection its reason
    decided_at timestamptz NOT NULL,
    CONSTRAINT refund_approvals_decision CHECK (
        (decision = 'EXPIRED') = (decided_by IS NULL) AND (decision <> 'REJECTED' OR note <> '') AND (decision <> 'EXPIRED' OR note = ''))
);

CREATE FUNCTION refuse_approval_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'refund_approvals is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER approvals_append_only BEFORE UPDATE OR DELETE ON refund_approvals FOR EACH ROW EXECUTE FUNCTION refuse_approval_change();
CREATE TRIGGER approvals_no_truncate BEFORE TRUNCATE ON refund_approvals FOR EACH STATEMENT EXECUTE FUNCTION refuse_approval_change();

-- The requester, the payer and the booker must not approve that the money goes back. Decisions of people come in time, the service's own
-- afterwards. The refund's row is locked: it cannot end while this is decided.
CREATE FUNCTION guard_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    refund refunds;
BEGIN
    SELECT * INTO refund FROM refunds WHERE id = NEW.refund_id FOR NO KEY UPDATE;

    IF refund.approval_pending IS NOT TRUE
        OR (NEW.decision = 'EXPIRED') <> (NEW.decided_at >= refund.approval_until)
        OR (NEW.decision = 'APPROVED' AND (
            NEW.decided_by = refund.requested_by
            OR EXISTS (SELECT FROM payment_transactions WHERE id = refund.payment_transaction_id AND user_id = NEW.decided_by)
            OR EXISTS (SELECT FROM bookings WHERE id = refund.booking_id AND user_id = NEW.decided_by))) THEN
        RAISE EXCEPTION 'the refund cannot be decided so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER approvals_decided BEFORE INSERT ON refund_approvals
    FOR EACH ROW EXECUTE FUNCTION guard_approval();

-- An order over the limit waits. Until it is approved nothing is sent, and it ends by what was decided about it only. A worker of an older
-- version knows of no approvals: it is refused here before it can ask a gateway for money, and a newer one takes over.
CREATE FUNCTION guard_refund_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    decided text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.approval_pending <> (NEW.approval_until IS NOT NULL)
            -- The order locks the payment, so that no other refund of it is ordered meanwhile.
            OR (NEW.approval_until IS NULL AND NEW.amount > NEW.approval_above - (
                SELECT coalesce(sum(amount), 0) FROM refunds
                WHERE payment_transaction_id = NEW.payment_transaction_id AND requested_by IS NOT NULL AND approval_until IS NULL
                    AND status <> 'FAILED')) THEN
            RAISE EXCEPTION 'the refund needs an approval' USING ERRCODE = 'restrict_violation';
        END IF;

        RETURN NEW;
    END IF;

    IF (NEW.approval_above, NEW.approval_until) IS DISTINCT FROM (OLD.approval_above, OLD.approval_until)
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
CREATE TRIGGER refunds_approval_ordered BEFORE INSERT ON refunds
    FOR EACH ROW WHEN (NEW.approval_above IS NOT NULL OR NEW.approval_pending) EXECUTE FUNCTION guard_refund_approval();
CREATE TRIGGER refunds_approval_kept BEFORE UPDATE ON refunds
    FOR EACH ROW WHEN (OLD.approval_until IS NOT NULL OR NEW.approval_until IS NOT NULL
        OR OLD.approval_above IS DISTINCT FROM NEW.approval_above OR NEW.approval_pending
        -- Of one that needs no approval too: that follows from these.
        OR OLD.amount IS DISTINCT FROM NEW.amount OR OLD.requested_by IS DISTINCT FROM NEW.requested_by
        OR OLD.payment_transaction_id IS DISTINCT FROM NEW.payment_transaction_id)
    EXECUTE FUNCTION guard_refund_approval();

-- A manual payout ends by what was decided about it, or about its approval before that.
CREATE OR REPLACE FUNCTION guard_refund_channel() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF (NEW.channel = 'MANUAL') <> EXISTS (
            SELECT FROM payment_transactions WHERE id = NEW.payment_transaction_id
                AND (payment_method = 'bill_payment' OR coalesce(captured_currency, 'SAR') <> 'SAR')) THEN
            RAISE EXCEPTION 'a refund of this payment does not go by %', NEW.channel USING ERRCODE = 'restrict_violation';
        END IF;
    ELSIF NEW.channel <> OLD.channel THEN
        RAISE EXCEPTION 'the way of a refund never changes' USING ERRCODE = 'restrict_violation';
    ELSIF NEW.channel = 'MANUAL' AND NEW.status <> 'PENDING' AND NOT EXISTS (
        SELECT FROM refund_payouts WHERE refund_id = NEW.id
            AND decision = CASE NEW.status WHEN 'SUCCEEDED' THEN 'PAID_OUT' ELSE 'REJECTED' END)
        AND NOT (NEW.status = 'FAILED' AND EXISTS (
            SELECT FROM refund_approvals WHERE refund_id = NEW.id AND decision <> 'APPROVED')) THEN
        RAISE EXCEPTION 'nobody has decided that the refund is %', NEW.status USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;

-- The requester must not be the one who says that the money was paid. A refund that came back is owed, and cannot be rejected. One that
-- waits for an approval is neither paid out nor rejected otherwise.
CREATE OR REPLACE FUNCTION guard_payout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM refunds WHERE id = NEW.refund_id
            AND (channel = 'MANUAL' AND status = 'PENDING' OR returned_at IS NOT NULL AND NEW.decision = 'PAID_OUT')
            AND (NEW.decision = 'REJECTED' OR requested_by IS DISTINCT FROM NEW.decided_by)
            AND (approval_until IS NULL OR EXISTS (
                SELECT FROM refund_approvals WHERE refund_id = NEW.refund_id AND decision = 'APPROVED'))) THEN
        RAISE EXCEPTION 'the payout cannot be decided so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
