-- Trips that do not run are called off: every paid booking is cancelled and its money goes back (decision 0098).
SET LOCAL lock_timeout = '3s';

ALTER TABLE trips
    DROP CONSTRAINT trips_status_check,
    ADD CONSTRAINT trips_status_check CHECK (status IN ('DRAFT', 'PUBLISHED', 'CANCELLING', 'CANCELLED')) NOT VALID;
ALTER TABLE ad_campaigns
    DROP CONSTRAINT ad_campaigns_status_check,
    ADD CONSTRAINT ad_campaigns_status_check CHECK (
        status IN ('PENDING_PAYMENT', 'PAYMENT_FAILED', 'SCHEDULED', 'ACTIVE', 'PAUSED', 'ENDED', 'CANCELLED')) NOT VALID;

-- The kinds that were there, and one more.
-- holds incidents: one opens for a payment in thousands.
DO $$
DECLARE
    kinds text;
BEGIN
    SELECT pg_get_constraintdef(oid) INTO STRICT kinds FROM pg_constraint
    WHERE conrelid = 'incidents'::regclass AND conname = 'incidents_kind_check';
    ALTER TABLE incidents DROP CONSTRAINT incidents_kind_check;
    EXECUTE format('ALTER TABLE incidents ADD CONSTRAINT incidents_kind_check %s',
        replace(kinds, 'ARRAY[', 'ARRAY[''TRIP_CANCELLATION_BLOCKED''::text, '));
END $$;

-- The figures are those of the moment of asking. While approval_pending nothing is cancelled; the trip is unlisted all the same.
CREATE TABLE trip_cancellations (
    id               uuid PRIMARY KEY,
    trip_id          uuid NOT NULL REFERENCES trips (id),
    status           text NOT NULL DEFAULT 'CANCELLING' CHECK (status IN ('CANCELLING', 'CANCELLED', 'REJECTED', 'EXPIRED')),
    reason           text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
    bookings         int NOT NULL CHECK (bookings >= 0),
    seats            int NOT NULL CHECK (seats >= bookings),
    refund_total     numeric(14, 2) NOT NULL CHECK (refund_total >= 0),
    clawback_total   numeric(14, 2) NOT NULL CHECK (clawback_total BETWEEN 0 AND refund_total),
    open_checkouts   int NOT NULL CHECK (open_checkouts >= 0),
    campaigns        int NOT NULL CHECK (campaigns >= 0),
    requested_by     uuid NOT NULL REFERENCES users (id),
    requested_at     timestamptz NOT NULL,
    approval_above   numeric(14, 2) CHECK (approval_above > 0),
    approval_until   timestamptz, -- NULL: it needs no approval
    approval_pending boolean NOT NULL DEFAULT false,
    decided_by       uuid REFERENCES users (id),
    decided_at       timestamptz,
    note             text NOT NULL DEFAULT '' CHECK (char_length(note) <= 500),
    looked_at        timestamptz, -- when its workflow last did
    done_at          timestamptz,
    CONSTRAINT trip_cancellations_done CHECK ((status = 'CANCELLED') = (done_at IS NOT NULL)),
    CONSTRAINT trip_cancellations_pending CHECK (NOT approval_pending OR (status = 'CANCELLING' AND approval_until IS NOT NULL)),
    CONSTRAINT trip_cancellations_decided CHECK ((approval_until IS NOT NULL AND NOT approval_pending) = (decided_at IS NOT NULL)),
    CONSTRAINT trip_cancellations_decider CHECK (decided_by IS NULL OR (decided_at IS NOT NULL AND status <> 'EXPIRED')),
    CONSTRAINT trip_cancellations_ended CHECK (status NOT IN ('REJECTED', 'EXPIRED') OR approval_until IS NOT NULL)
);
CREATE UNIQUE INDEX trip_cancellations_live ON trip_cancellations (trip_id) WHERE status IN ('CANCELLING', 'CANCELLED');
CREATE INDEX trip_cancellations_trip ON trip_cancellations (trip_id, requested_at);
CREATE INDEX trip_cancellations_open ON trip_cancellations (requested_at) WHERE status = 'CANCELLING';

CREATE FUNCTION refuse_trip_cancellation_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the cancellation of a trip is kept' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER trip_cancellations_kept BEFORE DELETE ON trip_cancellations
    FOR EACH ROW EXECUTE FUNCTION refuse_trip_cancellation_change();
CREATE TRIGGER trip_cancellations_no_truncate BEFORE TRUNCATE ON trip_cancellations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_trip_cancellation_change();

-- What was asked for never changes. It is decided once, by a second person where it needs one, and is done once no booking is live.
CREATE FUNCTION guard_trip_cancellation() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    course CONSTANT text[] := '{status,approval_pending,decided_by,decided_at,note,looked_at,done_at}';
    approved boolean := OLD.approval_pending AND NOT NEW.approval_pending AND NEW.status = 'CANCELLING';
BEGIN
    IF to_jsonb(NEW) - course <> to_jsonb(OLD) - course
        OR (OLD.status <> 'CANCELLING' AND to_jsonb(NEW) - '{looked_at}'::text[] <> to_jsonb(OLD) - '{looked_at}'::text[])
        OR (NOT OLD.approval_pending AND (NEW.approval_pending OR (NEW.status IN ('REJECTED', 'EXPIRED') AND NEW.status <> OLD.status)
            OR (NEW.decided_by, NEW.decided_at, NEW.note) IS DISTINCT FROM (OLD.decided_by, OLD.decided_at, OLD.note)))
        OR (OLD.approval_pending AND NEW.status = 'CANCELLED')
        OR (approved AND (NEW.decided_by IS NULL OR NEW.decided_by = NEW.requested_by
            OR second_person_refused(NEW.requested_by, NEW.decided_by, NULL) IS NOT NULL))
        OR (NEW.status = 'CANCELLED' AND OLD.status <> 'CANCELLED' AND EXISTS (
            SELECT FROM bookings WHERE trip_id = NEW.trip_id AND status IN ('PENDING_PAYMENT', 'CONFIRMED'))) THEN
        RAISE EXCEPTION 'the cancellation of the trip cannot go on so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER trip_cancellations_guarded BEFORE UPDATE ON trip_cancellations
    FOR EACH ROW EXECUTE FUNCTION guard_trip_cancellation();
