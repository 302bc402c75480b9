-- What a customer bought: the departure and the cancellation schedule of a booking as they were when it was made, and every
-- move of a trip since.

-- Every change of the departure of a trip that is on sale. tolerance is RESCHEDULE_TOLERANCE at that moment.
CREATE TABLE trip_moves (
    id             uuid PRIMARY KEY,
    trip_id        uuid NOT NULL REFERENCES trips (id),
    departure_from timestamptz NOT NULL,
    departure_to   timestamptz NOT NULL,
    tolerance      interval NOT NULL CHECK (tolerance >= interval '0'),
    moved_by       uuid REFERENCES users (id),
    -- Not now(): that is the beginning of a transaction, which may have waited for bookings.
    moved_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT trip_moves_moved CHECK (departure_from <> departure_to)
);
CREATE INDEX trip_moves_trip ON trip_moves (trip_id, moved_at);

CREATE FUNCTION refuse_move_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a move of a trip never changes' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER trip_moves_append_only BEFORE UPDATE OR DELETE ON trip_moves
    FOR EACH ROW EXECUTE FUNCTION refuse_move_change();

-- booked_schedule is empty for bookings of versions that did not keep it. rescheduled_by is the first move that gave the
-- customer the right to all of the money; it stays, wherever the trip is moved afterwards.
ALTER TABLE bookings
    ADD COLUMN booked_departure_at timestamptz,
    ADD COLUMN booked_schedule text,
    ADD COLUMN rescheduled_by uuid REFERENCES trip_moves (id);
UPDATE bookings AS b SET booked_departure_at = t.departure_at FROM trips AS t WHERE t.id = b.trip_id;
ALTER TABLE bookings ALTER COLUMN booked_departure_at SET NOT NULL;
CREATE INDEX bookings_rescheduled_by ON bookings (rescheduled_by) WHERE rescheduled_by IS NOT NULL;

-- An API of an older version, which may still run beside this one, does not write the departure.
CREATE FUNCTION set_booked_departure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT departure_at INTO NEW.booked_departure_at FROM trips WHERE id = NEW.trip_id;
    RETURN NEW;
END $$;
CREATE TRIGGER bookings_departure_set BEFORE INSERT ON bookings
    FOR EACH ROW WHEN (NEW.booked_departure_at IS NULL) EXECUTE FUNCTION set_booked_departure();

CREATE FUNCTION refuse_terms_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a booking was made for never changes' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER bookings_terms_kept BEFORE UPDATE OF booked_departure_at, booked_schedule, rescheduled_by ON bookings
    FOR EACH ROW WHEN (NEW.booked_departure_at IS DISTINCT FROM OLD.booked_departure_at
                       OR NEW.booked_schedule IS DISTINCT FROM OLD.booked_schedule
                       OR (OLD.rescheduled_by IS NOT NULL AND NEW.rescheduled_by IS DISTINCT FROM OLD.rescheduled_by))
    EXECUTE FUNCTION refuse_terms_change();

-- Which terms gave the percentage of a POLICY refund. NULL: those of its moment, by a version that knew no others.
ALTER TABLE refunds ADD COLUMN policy_reason text
    CHECK (policy_reason IN ('POLICY', 'POLICY_AT_BOOKING', 'RESCHEDULED')),
    ADD CONSTRAINT refunds_policy_reason CHECK (refund_type = 'POLICY' OR policy_reason IS NULL);

-- A customer is notified of every move of a trip. cause is the move, and empty for messages that are sent once.
ALTER TABLE notifications
    ADD COLUMN cause text NOT NULL DEFAULT '',
    DROP CONSTRAINT notifications_transaction_id_kind_channel_key,
    ADD CONSTRAINT notifications_once UNIQUE (transaction_id, kind, channel, cause);

-- What is unpaid, per account and per phone, and by bills per trip. contact_e164 is empty where no number can be made of the
-- contact's phone, and for bookings of older versions; hold_method is the method of the newest attempt, whose hold it is.
ALTER TABLE bookings
    ADD COLUMN contact_e164 text,
    ADD COLUMN hold_method text;
CREATE INDEX bookings_unpaid_account ON bookings (user_id) WHERE status = 'PENDING_PAYMENT';
CREATE INDEX bookings_unpaid_phone ON bookings (contact_e164) WHERE status = 'PENDING_PAYMENT';
CREATE INDEX bookings_unpaid_trip ON bookings (trip_id) WHERE status = 'PENDING_PAYMENT';
UPDATE bookings AS b SET hold_method = (
    SELECT payment_method FROM payment_transactions AS t WHERE t.booking_id = b.id AND t.kind = 'PAYMENT' ORDER BY t.attempt DESC LIMIT 1)
WHERE b.status = 'PENDING_PAYMENT';

-- Who has never paid is written to at an address that is known to be the account's own. NULL: it is not known yet.
ALTER TABLE users ADD COLUMN email_verified_at timestamptz;

-- How many messages an address has had within a day.
CREATE INDEX notifications_recipient ON notifications (lower(recipient), channel, sent_at);
