-- What is counted before a booking is made is found by an index that nothing else can be found by. The indexes of unpaid bookings by
-- account, phone and trip were alike to PostgreSQL while it knew of few unpaid bookings: it read all there are of one to find those of
-- another, and kept to that plan while a trip was being sold. Not in one transaction: the indexes are made beside the work on bookings,
-- and each change that locks gives up after 3 s. All of it can be run again after a failure half-way: an index that is whole stays then,
-- since the functions may need it already.
DO $$ DECLARE half text; BEGIN
    SET LOCAL lock_timeout = '3s';

    FOR half IN
        SELECT i.indexrelid::regclass FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'bookings'::regclass AND NOT i.indisvalid
            AND c.relname IN ('bookings_unpaid_of_account', 'bookings_unpaid_of_phone', 'bookings_unpaid_bills_of_trip')
    LOOP
        EXECUTE 'DROP INDEX ' || half;
    END LOOP;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS bookings_unpaid_of_account ON bookings ((CASE WHEN status = 'PENDING_PAYMENT' THEN user_id END))
    WHERE (CASE WHEN status = 'PENDING_PAYMENT' THEN user_id END) IS NOT NULL;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS bookings_unpaid_of_phone ON bookings ((CASE WHEN status = 'PENDING_PAYMENT' THEN contact_e164 END))
    WHERE (CASE WHEN status = 'PENDING_PAYMENT' THEN contact_e164 END) IS NOT NULL;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS bookings_unpaid_bills_of_trip
    ON bookings ((CASE WHEN status = 'PENDING_PAYMENT' AND hold_method = 'bill_payment' THEN trip_id END))
    WHERE (CASE WHEN status = 'PENDING_PAYMENT' AND hold_method = 'bill_payment' THEN trip_id END) IS NOT NULL;
--bun:split
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
    SELECT count(*), coalesce(sum(seats), 0) INTO unpaid, held FROM bookings
    WHERE CASE WHEN status = 'PENDING_PAYMENT' THEN contact_e164 END = phone;

    IF max_bookings > 0 AND unpaid >= max_bookings OR max_seats > 0 AND held + more > max_seats THEN
        refused := 'PHONE';
    END IF;
END $$;
--bun:split
CREATE OR REPLACE FUNCTION lock_bill_seats(trip uuid, but uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM FROM trips WHERE id = trip FOR NO KEY UPDATE;

    RETURN (
        SELECT coalesce(sum(seats), 0) FROM bookings
        WHERE CASE WHEN status = 'PENDING_PAYMENT' AND hold_method = 'bill_payment' THEN trip_id END = trip AND id <> but);
END $$;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    DROP INDEX IF EXISTS bookings_unpaid_account, bookings_unpaid_phone, bookings_unpaid_trip;
END $$;
