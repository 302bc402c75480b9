-- Refunds by the cancellation policy, and refunds that no gateway can make and that finance staff pay out manually.

-- How the policy found the amount: its percentage at so many whole hours to departure, of what was paid, less what had
-- been given or reserved before. The schedule is that of the moment, so that the amount can be recomputed ever after.
ALTER TABLE refunds
    ADD COLUMN policy_percent int CHECK (policy_percent BETWEEN 1 AND 100),
    ADD COLUMN policy_hours int,
    ADD COLUMN policy_schedule text,
    ADD COLUMN policy_given numeric(14, 2) CHECK (policy_given >= 0),
    ADD CONSTRAINT refunds_policy CHECK (
        num_nonnulls(policy_percent, policy_hours, policy_schedule, policy_given) = CASE refund_type WHEN 'POLICY' THEN 4 ELSE 0 END);

-- Which way the money goes: through the gateway that took it, or as a manual payout. What is there now went or goes through its
-- gateway.
ALTER TABLE refunds
    ADD COLUMN channel text NOT NULL DEFAULT 'GATEWAY' CHECK (channel IN ('GATEWAY', 'MANUAL')),
    ADD CONSTRAINT refunds_by_hand CHECK (channel = 'GATEWAY' OR gateway_refund_id IS NULL);
CREATE INDEX refunds_by_hand_pending ON refunds (created_at DESC, id) WHERE channel = 'MANUAL' AND status = 'PENDING';

-- What was decided about a manual payout, once and for all; the refund is settled by it afterwards.
CREATE TABLE refund_payouts (
    refund_id        uuid PRIMARY KEY REFERENCES refunds (id),
    decision         text NOT NULL CHECK (decision IN ('PAID_OUT', 'REJECTED')),
    payout_reference text CHECK (payout_reference <> ''),
    paid_out_on      date,
    note             text NOT NULL DEFAULT '', -- of a rejection its reason
    decided_by       uuid NOT NULL REFERENCES users (id),
    decided_at       timestamptz NOT NULL,
    CONSTRAINT refund_payouts_decision CHECK (
        num_nonnulls(payout_reference, paid_out_on) = CASE decision WHEN 'PAID_OUT' THEN 2 ELSE 0 END
        AND (decision = 'PAID_OUT' OR note <> ''))
);

-- A bill cannot be refunded through its gateway, and a manual payout ends by what was decided about it and by nothing
-- else. A worker of an older version knows neither: it is refused here, before it can ask a gateway for money, and a newer
-- one takes over.
CREATE FUNCTION guard_refund_channel() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF (NEW.channel = 'MANUAL') <> EXISTS (
            SELECT FROM payment_transactions WHERE id = NEW.payment_transaction_id AND payment_method = 'bill_payment') THEN
            RAISE EXCEPTION 'a refund of this payment does not go by %', NEW.channel USING ERRCODE = 'restrict_violation';
        END IF;
    ELSIF NEW.channel <> OLD.channel THEN
        RAISE EXCEPTION 'the way of a refund never changes' USING ERRCODE = 'restrict_violation';
    ELSIF NEW.channel = 'MANUAL' AND NEW.status <> 'PENDING' AND NOT EXISTS (
        SELECT FROM refund_payouts WHERE refund_id = NEW.id
            AND decision = CASE NEW.status WHEN 'SUCCEEDED' THEN 'PAID_OUT' ELSE 'REJECTED' END) THEN
        RAISE EXCEPTION 'nobody has decided that the refund is %', NEW.status USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER refunds_made BEFORE INSERT ON refunds
    FOR EACH ROW EXECUTE FUNCTION guard_refund_channel();
CREATE TRIGGER refunds_moved BEFORE UPDATE OF status, channel ON refunds
    FOR EACH ROW EXECUTE FUNCTION guard_refund_channel();

-- The requester of the money must not be the one who says that it was paid.
CREATE FUNCTION guard_payout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM refunds WHERE id = NEW.refund_id AND channel = 'MANUAL' AND status = 'PENDING'
            AND (NEW.decision = 'REJECTED' OR requested_by IS DISTINCT FROM NEW.decided_by)) THEN
        RAISE EXCEPTION 'the payout cannot be decided so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER payouts_decided BEFORE INSERT ON refund_payouts
    FOR EACH ROW EXECUTE FUNCTION guard_payout();
