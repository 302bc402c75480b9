-- Passengers who have boarded, each of them once: a telephone reports them, perhaps hours later.
SET LOCAL lock_timeout = '3s';

CREATE TABLE check_ins (
    booking_id    uuid NOT NULL REFERENCES bookings (id),
    position      smallint NOT NULL CHECK (position BETWEEN 1 AND 20), -- of the passenger, as booked
    trip_id       uuid NOT NULL REFERENCES trips (id),
    checked_in_at timestamptz NOT NULL,
    device_id     text NOT NULL CHECK (char_length(device_id) BETWEEN 1 AND 100),
    checked_in_by uuid NOT NULL REFERENCES users (id),
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (booking_id, position),
    CONSTRAINT check_ins_past CHECK (checked_in_at <= created_at)
);
CREATE INDEX check_ins_trip ON check_ins (trip_id);

CREATE FUNCTION refuse_check_in_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a check-in never changes' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER check_ins_append_only BEFORE UPDATE OR DELETE ON check_ins
    FOR EACH ROW EXECUTE FUNCTION refuse_check_in_change();
CREATE TRIGGER check_ins_no_truncate BEFORE TRUNCATE ON check_ins
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_check_in_change();

-- A passenger of a paid booking of the trip who is not cancelled. The lock waits for a cancellation that is being written.
CREATE FUNCTION guard_check_in() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    b record;
BEGIN
    SELECT trip_id, status, jsonb_array_length(passengers) AS passengers INTO b FROM bookings WHERE id = NEW.booking_id FOR SHARE;

    IF b IS NULL OR b.trip_id <> NEW.trip_id OR b.status <> 'CONFIRMED' OR NEW.position > b.passengers OR EXISTS (
        SELECT FROM cancelled_passengers WHERE booking_id = NEW.booking_id AND position = NEW.position) THEN
        RAISE EXCEPTION 'the passenger cannot be checked in' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER check_ins_guarded BEFORE INSERT ON check_ins FOR EACH ROW EXECUTE FUNCTION guard_check_in();
