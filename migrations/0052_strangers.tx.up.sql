-- Seats that accounts hold unpaid whose address is not verified (decision 0079): such an account costs nothing, so they are counted by
-- trip and by network, not by account alone. A row lives as long as the hold: the network is kept no longer.
CREATE TABLE stranger_seats (
    booking_id uuid PRIMARY KEY REFERENCES bookings (id) ON DELETE CASCADE,
    trip_id    uuid NOT NULL,
    network    text NOT NULL, -- of IPv4 the /24, of IPv6 the /48; empty where none is known
    seats      int NOT NULL CHECK (seats > 0)
);
CREATE INDEX stranger_seats_trip ON stranger_seats (trip_id);
CREATE INDEX stranger_seats_network ON stranger_seats (network);

-- The first limit that so many more seats of strangers would exceed, NULL for none; a limit of 0 is none. Network and trip stay locked, in
-- this order, until the transaction ends.
CREATE FUNCTION refuse_stranger(trip uuid, net text, more int, max_share numeric, max_network int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    room numeric;
BEGIN
    IF max_network > 0 AND net <> '' THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('unpaid:network:' || net, 0));

        IF (SELECT coalesce(sum(seats), 0) FROM stranger_seats WHERE network = net) + more > max_network THEN
            RETURN 'NETWORK';
        END IF;
    END IF;

    IF max_share > 0 THEN
        SELECT capacity * max_share INTO room FROM trips WHERE id = trip FOR NO KEY UPDATE;

        IF (SELECT coalesce(sum(seats), 0) FROM stranger_seats WHERE trip_id = trip) + more > room THEN
            RETURN 'TRIP';
        END IF;
    END IF;

    RETURN NULL;
END $$;

CREATE FUNCTION forget_stranger_seats() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'bookings' THEN
        DELETE FROM stranger_seats WHERE booking_id = NEW.id;
    ELSE
        DELETE FROM stranger_seats WHERE booking_id IN (
            SELECT id FROM bookings WHERE CASE WHEN status = 'PENDING_PAYMENT' THEN user_id END = NEW.id);
    END IF;

    RETURN NULL;
END $$;
CREATE TRIGGER bookings_no_stranger AFTER UPDATE OF status ON bookings FOR EACH ROW
    WHEN (OLD.status = 'PENDING_PAYMENT' AND NEW.status <> 'PENDING_PAYMENT') EXECUTE FUNCTION forget_stranger_seats();
CREATE TRIGGER users_no_stranger AFTER UPDATE OF email_verified_at ON users FOR EACH ROW
    WHEN (OLD.email_verified_at IS NULL AND NEW.email_verified_at IS NOT NULL) EXECUTE FUNCTION forget_stranger_seats();

-- Unpaid bookings of strangers do not count against the phone of another account.
CREATE OR REPLACE FUNCTION refuse_unpaid(
    account uuid, phone text, more int, max_bookings int, max_seats int, OUT refused text, OUT unpaid int, OUT held int
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF max_bookings = 0 AND max_seats = 0 THEN
        RETURN;
    END IF;

    PERFORM pg_advisory_xact_lock(hashtextextended('unpaid:account:' || account, 0));
    SELECT count(*), coalesce(sum(seats), 0) INTO unpaid, held FROM bookings
    WHERE CASE WHEN status = 'PENDING_PAYMENT' THEN user_id END = account;

    IF max_bookings > 0 AND unpaid >= max_bookings THEN
        refused := 'ACCOUNT_BOOKINGS';
    ELSIF max_seats > 0 AND held + more > max_seats THEN
        refused := 'ACCOUNT_SEATS';
    END IF;

    IF refused IS NOT NULL OR phone IS NULL THEN
        RETURN;
    END IF;

    PERFORM pg_advisory_xact_lock(hashtextextended('unpaid:phone:' || phone, 0));
    SELECT count(*), coalesce(sum(b.seats), 0) INTO unpaid, held FROM bookings AS b
    WHERE CASE WHEN b.status = 'PENDING_PAYMENT' THEN b.contact_e164 END = phone
        AND (b.user_id = account OR NOT EXISTS (SELECT FROM stranger_seats AS s WHERE s.booking_id = b.id));

    IF max_bookings > 0 AND unpaid >= max_bookings OR max_seats > 0 AND held + more > max_seats THEN
        refused := 'PHONE';
    END IF;
END $$;
