-- The person who calls a trip off does not confirm the manual payouts of its refunds (rules: by-hand.two-people).
SET LOCAL lock_timeout = '3s';

-- Who asked for a refund: its requester, or of the service's own for a trip that is called off the one who called it off.
CREATE FUNCTION refund_asked_for_by(refund refunds) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT coalesce(refund.requested_by, CASE WHEN refund.cause = 'TRIP_CANCELLED' THEN (
        SELECT o.requested_by FROM trip_cancellations AS o
        WHERE o.status IN ('CANCELLING', 'CANCELLED') AND o.trip_id = coalesce(
            (SELECT trip_id FROM bookings WHERE id = refund.booking_id),
            (SELECT trip_id FROM ad_campaigns WHERE id = refund.ad_campaign_id))) END)
$$;

-- As 0078 has it, with who asked for it.
CREATE OR REPLACE FUNCTION guard_payout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM refunds AS r WHERE r.id = NEW.refund_id
            AND (r.channel = 'MANUAL' AND r.status = 'PENDING' OR r.returned_at IS NOT NULL AND NEW.decision = 'PAID_OUT')
            AND (NEW.decision = 'REJECTED' OR (
                refund_asked_for_by(r) IS DISTINCT FROM NEW.decided_by
                AND second_person_refused(refund_asked_for_by(r), NEW.decided_by, r.booking_id) IS NULL
                AND (r.approval_until IS NOT NULL OR r.returned_at IS NOT NULL OR r.ad_campaign_id IS NOT NULL OR NOT is_gone(r.requested_by)
                    OR EXISTS (SELECT FROM cancellations AS c WHERE c.refund_id = NEW.refund_id AND c.status = 'DONE'))))
            AND (r.approval_until IS NULL OR EXISTS (
                SELECT FROM refund_approvals WHERE refund_id = NEW.refund_id AND decision = 'APPROVED'))) THEN
        RAISE EXCEPTION 'the payout cannot be decided so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
