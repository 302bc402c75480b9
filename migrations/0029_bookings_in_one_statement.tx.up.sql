-- The limits of a booking, for the one statement that makes it. Each query of a volatile function sees what was committed until it
-- began: what is counted after a lock was had is what is there. Counted by the statement itself, it would be what was there before it
-- waited.

-- The first limit that so many more unpaid seats of the account and of the contact's phone would exceed, NULL for none; a limit of 0
-- is none. Both stay locked until the transaction ends, the account first: bookings that are asked for at once count each other.
CREATE FUNCTION refuse_unpaid(
    account uuid, phone text, more int, max_bookings int, max_seats int, OUT refused text, OUT unpaid int, OUT held int
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF max_bookings = 0 AND max_seats = 0 THEN
        RETURN;
    END IF;

    PERFORM pg_advisory_xact_lock(hashtextextended('unpaid:account:' || account, 0));
    SELECT count(*), coalesce(sum(seats), 0) INTO unpaid, held FROM bookings WHERE user_id = account AND status = 'PENDING_PAYMENT';

    IF max_bookings > 0 AND unpaid >= max_bookings THEN
        refused := 'ACCOUNT_BOOKINGS';
    ELSIF max_seats > 0 AND held + more > max_seats THEN
        refused := 'ACCOUNT_SEATS';
    END IF;

    IF refused IS NOT NULL OR phone IS NULL THEN
        RETURN;
    END IF;

    PERFORM pg_advisory_xact_lock(hashtextextended('unpaid:phone:' || phone, 0));
    SELECT count(*), coalesce(sum(seats), 0) INTO unpaid, held FROM bookings WHERE contact_e164 = phone AND status = 'PENDING_PAYMENT';

    IF max_bookings > 0 AND unpaid >= max_bookings OR max_seats > 0 AND held + more > max_seats THEN
        refused := 'PHONE';
    END IF;
END $$;

-- How many seats of the trip other bookings hold that wait for bills. The trip stays locked until the transaction ends.
CREATE FUNCTION lock_bill_seats(trip uuid, but uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM FROM trips WHERE id = trip FOR NO KEY UPDATE;

    RETURN (
        SELECT coalesce(sum(seats), 0) FROM bookings
        WHERE trip_id = trip AND status = 'PENDING_PAYMENT' AND hold_method = 'bill_payment' AND id <> but);
END $$;
