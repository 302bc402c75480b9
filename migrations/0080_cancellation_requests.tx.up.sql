-- Customers ask for the cancellation of what they have paid, and staff decide (decision 0097). The quote of the moment of asking is kept.
SET LOCAL lock_timeout = '3s';

CREATE TABLE cancellation_requests (
    id              uuid PRIMARY KEY,
    booking_id      uuid NOT NULL REFERENCES bookings (id),
    status          text NOT NULL CHECK (status IN ('REQUESTED', 'APPROVED', 'REJECTED', 'WITHDRAWN', 'EXPIRED')),
    positions       smallint[] NOT NULL CHECK (cardinality(positions) BETWEEN 1 AND 20),
    seats_before    smallint NOT NULL CHECK (seats_before >= cardinality(positions)),
    percent         smallint NOT NULL CHECK (percent BETWEEN 0 AND 100),
    reason_code     text NOT NULL CHECK (reason_code IN ('POLICY', 'POLICY_AT_BOOKING', 'RESCHEDULED', 'TRIP_CANCELLED')),
    schedule        text NOT NULL,
    hours           int NOT NULL,
    paid_amount     numeric(14, 2) NOT NULL CHECK (paid_amount >= 0),
    due_amount      numeric(14, 2) NOT NULL CHECK (due_amount >= 0),
    given_amount    numeric(14, 2) NOT NULL CHECK (given_amount >= 0),
    left_amount     numeric(14, 2) NOT NULL CHECK (left_amount >= 0),
    refund_amount   numeric(14, 2) NOT NULL CHECK (refund_amount BETWEEN 0 AND left_amount),
    reason          text NOT NULL DEFAULT '' CHECK (char_length(reason) <= 500),
    note            text NOT NULL DEFAULT '' CHECK (char_length(note) <= 500),
    requested_by    uuid NOT NULL REFERENCES users (id),
    requested_at    timestamptz NOT NULL,
    decided_by      uuid REFERENCES users (id),
    decided_at      timestamptz,
    cancellation_id uuid UNIQUE REFERENCES cancellations (id),
    body_hash       bytea CHECK (octet_length(body_hash) = 32),
    looked_at       timestamptz, -- when its workflow first did
    closed_at       timestamptz, -- when its workflow saw that it is decided
    CONSTRAINT requests_decided CHECK ((status = 'REQUESTED') = (decided_at IS NULL)),
    CONSTRAINT requests_decider CHECK (decided_by IS NULL OR status IN ('APPROVED', 'REJECTED', 'WITHDRAWN')),
    CONSTRAINT requests_cancellation CHECK ((status = 'APPROVED') = (cancellation_id IS NOT NULL)),
    CONSTRAINT requests_rejected CHECK (status <> 'REJECTED' OR note <> '')
);
CREATE UNIQUE INDEX requests_open ON cancellation_requests (booking_id) WHERE status = 'REQUESTED';
CREATE INDEX requests_booking ON cancellation_requests (booking_id, requested_at);
CREATE INDEX requests_by_age ON cancellation_requests (requested_at, id);
CREATE INDEX requests_waiting ON cancellation_requests (requested_at) WHERE closed_at IS NULL;

-- What was asked for never changes, and it is decided once: the customer cannot approve it.
CREATE FUNCTION guard_cancellation_request() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    decision CONSTANT text[] := '{status,note,decided_by,decided_at,cancellation_id,looked_at,closed_at}';
BEGIN
    IF (OLD.status <> 'REQUESTED' AND to_jsonb(NEW) - '{looked_at,closed_at}'::text[] <> to_jsonb(OLD) - '{looked_at,closed_at}'::text[]) OR to_jsonb(NEW) - decision <> to_jsonb(OLD) - decision
        OR (NEW.status IN ('APPROVED', 'REJECTED') AND NEW.decided_by = NEW.requested_by)
        OR (NEW.cancellation_id IS DISTINCT FROM OLD.cancellation_id AND NOT EXISTS (
            SELECT FROM cancellations WHERE id = NEW.cancellation_id AND booking_id = NEW.booking_id
                AND positions = NEW.positions)) THEN
        RAISE EXCEPTION 'a cancellation request is decided once' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER requests_guarded BEFORE UPDATE ON cancellation_requests
    FOR EACH ROW EXECUTE FUNCTION guard_cancellation_request();
CREATE TRIGGER requests_kept BEFORE DELETE ON cancellation_requests FOR EACH ROW EXECUTE FUNCTION refuse_cancelled_change();
CREATE TRIGGER requests_no_truncate BEFORE TRUNCATE ON cancellation_requests
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_cancelled_change();
