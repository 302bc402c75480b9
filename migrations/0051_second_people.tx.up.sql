-- Who may be a second person (decision 0078).

-- An address, or a phone, in the one spelling by which two of them are compared: without case, invisible characters and +tag; the last nine
-- digits of a phone, whatever is in front of them. NULL for what has none.
CREATE FUNCTION mailbox_of(address text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT nullif(regexp_replace(lower(regexp_replace(normalize(address, NFKC),
        '[\s\u200B-\u200F\u202A-\u202E\u2066-\u2069\uFEFF]', '', 'g')), '\+[^@]*@', '@'), '')
$$;
CREATE FUNCTION subscriber_of(phone text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN length(d) >= 9 THEN right(d, 9) END FROM (SELECT regexp_replace(
        translate(normalize(phone, NFKC), '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹', '01234567890123456789'), '\D', '', 'g')) AS digits (d)
$$;

-- Why the second person is none beside the first one: TIED when either has made, invited, promoted, unlocked or reset the other within 30
-- days (accounts of companies do not count), CONTACT when the booking is of the second one's address or phone; NULL: nothing is against it.
CREATE FUNCTION second_person_refused(first_one uuid, second_one uuid, booking uuid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN EXISTS (
            SELECT FROM audit_log
            WHERE entity = 'user' AND created_at > now() - interval '30 days'
                AND (entity_id = first_one AND actor_id = second_one OR entity_id = second_one AND actor_id = first_one)
                AND (action IN ('USER_CREATED', 'USER_INVITED', 'USER_UNLOCKED', 'SECOND_FACTOR_REMOVED', 'PASSWORD_CHANGED', 'PASSWORD_RESET',
                        'RESET_PASSWORD_SENT')
                    OR action = 'USER_CHANGED' AND details -> 'before' -> 'role' IS DISTINCT FROM details -> 'after' -> 'role')
                AND coalesce(details ->> 'role', '') NOT IN ('PROVIDER_STAFF', 'PROVIDER_ADMIN')) THEN 'TIED'
        WHEN EXISTS (
            SELECT FROM users AS u, bookings AS b
            WHERE u.id = second_one AND b.id = booking
                AND (mailbox_of(u.email) = mailbox_of(b.contact_email) OR subscriber_of(u.phone) = subscriber_of(b.contact_phone))) THEN 'CONTACT'
    END
$$;

-- Whether an account can act no more: locked by an administrator, or removed.
CREATE FUNCTION is_gone(account uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM users WHERE id = account AND (locked_at IS NOT NULL OR deleted_at IS NOT NULL))
$$;

CREATE OR REPLACE FUNCTION guard_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    refund refunds;
BEGIN
    SELECT * INTO refund FROM refunds WHERE id = NEW.refund_id FOR NO KEY UPDATE;

    IF refund.approval_pending IS NOT TRUE
        OR (NEW.decision = 'EXPIRED') <> (NEW.decided_at >= refund.approval_until)
        OR (NEW.decision = 'APPROVED' AND (
            NEW.decided_by = refund.requested_by
            OR EXISTS (SELECT FROM payment_transactions WHERE id = refund.payment_transaction_id AND user_id = NEW.decided_by)
            OR EXISTS (SELECT FROM bookings WHERE id = refund.booking_id AND user_id = NEW.decided_by)
            OR second_person_refused(refund.requested_by, NEW.decided_by, refund.booking_id) IS NOT NULL
            OR is_gone(refund.requested_by))) THEN
        RAISE EXCEPTION 'the refund cannot be decided so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;

-- An order that a second person has approved, and money that is owed, are paid out whatever has become of the requester.
CREATE OR REPLACE FUNCTION guard_payout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM refunds WHERE id = NEW.refund_id
            AND (channel = 'MANUAL' AND status = 'PENDING' OR returned_at IS NOT NULL AND NEW.decision = 'PAID_OUT')
            AND (NEW.decision = 'REJECTED' OR (
                requested_by IS DISTINCT FROM NEW.decided_by
                AND second_person_refused(requested_by, NEW.decided_by, booking_id) IS NULL
                AND (approval_until IS NOT NULL OR returned_at IS NOT NULL OR ad_campaign_id IS NOT NULL OR NOT is_gone(requested_by))))
            AND (approval_until IS NULL OR EXISTS (
                SELECT FROM refund_approvals WHERE refund_id = NEW.refund_id AND decision = 'APPROVED'))) THEN
        RAISE EXCEPTION 'the payout cannot be decided so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;

CREATE FUNCTION guard_reversal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF second_person_refused(NEW.transferred_by, NEW.reverted_by,
        (SELECT booking_id FROM financial_records WHERE id = NEW.record_id)) IS NOT NULL THEN
        RAISE EXCEPTION 'the mark cannot be taken back so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER reversals_decided BEFORE INSERT ON payout_reversals FOR EACH ROW EXECUTE FUNCTION guard_reversal();
