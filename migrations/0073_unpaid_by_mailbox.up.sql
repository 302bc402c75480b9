-- Accounts whose addresses differ behind a plus sign are one mailbox, and so one person as far as anybody can tell: what they have unpaid is
-- counted together. Not in one transaction: the index is made beside the work on accounts, and the drop of one that is half made gives up
-- after 3 s. It can be run again after a failure.
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';

    IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('users_mailbox') AND NOT indisvalid) THEN
        DROP INDEX users_mailbox;
    END IF;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS users_mailbox ON users ((regexp_replace(lower(email), '^([^@+]+)[+][^@]*@', '\1@')));
--bun:split
-- The function of migration 0052, by mailbox instead of by account.
CREATE OR REPLACE FUNCTION refuse_unpaid(
    account uuid, phone text, more int, max_bookings int, max_seats int, OUT refused text, OUT unpaid int, OUT held int
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    mailbox text;
BEGIN
    IF max_bookings = 0 AND max_seats = 0 THEN
        RETURN;
    END IF;

    SELECT regexp_replace(lower(email), '^([^@+]+)[+][^@]*@', '\1@') INTO mailbox FROM users WHERE id = account;
    PERFORM pg_advisory_xact_lock(hashtextextended('unpaid:mailbox:' || mailbox, 0));
    SELECT count(b.id), coalesce(sum(b.seats), 0) INTO unpaid, held
    FROM users AS u JOIN bookings AS b ON CASE WHEN b.status = 'PENDING_PAYMENT' THEN b.user_id END = u.id
    WHERE regexp_replace(lower(u.email), '^([^@+]+)[+][^@]*@', '\1@') = mailbox;

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
