-- Staff correct the names of passengers, a few times each. A row for each change, without the names themselves.
SET LOCAL lock_timeout = '3s';

CREATE TABLE passenger_renames (
    booking_id    uuid NOT NULL REFERENCES bookings (id),
    position      smallint NOT NULL CHECK (position BETWEEN 1 AND 20), -- of the passenger, as it was booked
    n             smallint NOT NULL CHECK (n > 0),                     -- of the passenger's changes
    before_digest bytea NOT NULL CHECK (octet_length(before_digest) = 32),
    after_digest  bytea NOT NULL CHECK (octet_length(after_digest) = 32),
    renamed_by    uuid NOT NULL REFERENCES users (id),
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (booking_id, position, n),
    CONSTRAINT passenger_renames_change CHECK (before_digest <> after_digest)
);

-- The booking is part of the digest, so that equal names of two bookings have different ones.
CREATE FUNCTION passenger_digest(booking uuid, name text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(convert_to(booking::text || ':' || name, 'UTF8'));

CREATE FUNCTION refuse_rename_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a correction of a name never changes' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER renames_append_only BEFORE UPDATE OR DELETE ON passenger_renames
    FOR EACH ROW EXECUTE FUNCTION refuse_rename_change();
CREATE TRIGGER renames_no_truncate BEFORE TRUNCATE ON passenger_renames
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rename_change();

-- Changes are counted without a gap, each follows from the name that is there, and a cancelled passenger keeps his.
CREATE FUNCTION guard_rename() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.n <> 1 + (SELECT count(*) FROM passenger_renames WHERE booking_id = NEW.booking_id AND position = NEW.position)
        OR NEW.before_digest IS DISTINCT FROM (
            SELECT passenger_digest(b.id, b.passengers -> (NEW.position - 1) ->> 'name') FROM bookings AS b WHERE b.id = NEW.booking_id)
        OR EXISTS (SELECT FROM cancelled_passengers WHERE booking_id = NEW.booking_id AND position = NEW.position)
        OR EXISTS (SELECT FROM bookings WHERE id = NEW.booking_id AND status = 'CANCELLED') THEN
        RAISE EXCEPTION 'the passenger cannot be renamed so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER renames_guarded BEFORE INSERT ON passenger_renames FOR EACH ROW EXECUTE FUNCTION guard_rename();

-- Of a booking's passengers nothing changes but names, each by its newest row above.
CREATE FUNCTION guard_passengers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF jsonb_array_length(NEW.passengers) <> jsonb_array_length(OLD.passengers) OR EXISTS (
        SELECT FROM jsonb_array_elements(OLD.passengers) WITH ORDINALITY AS was (p, at)
        JOIN jsonb_array_elements(NEW.passengers) WITH ORDINALITY AS now (p, at) USING (at)
        WHERE was.p <> now.p AND (was.p - 'name' <> now.p - 'name' OR NOT EXISTS (
            SELECT FROM passenger_renames AS r WHERE r.booking_id = NEW.id AND r.position = at
                AND r.n = (SELECT max(n) FROM passenger_renames WHERE booking_id = NEW.id AND position = at)
                AND r.before_digest = passenger_digest(NEW.id, was.p ->> 'name')
                AND r.after_digest = passenger_digest(NEW.id, now.p ->> 'name')))) THEN
        RAISE EXCEPTION 'the passengers of a booking change by corrections of their names alone' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER bookings_passengers_kept BEFORE UPDATE OF passengers ON bookings
    FOR EACH ROW WHEN (OLD.passengers IS DISTINCT FROM NEW.passengers) EXECUTE FUNCTION guard_passengers();
