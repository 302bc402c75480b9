-- What a mailbox has had within a day, whatever stands behind a plus sign in its address (outbox.AddressOf). Not in one transaction: the
-- index is made beside the work on messages, and the drop of one that is half made gives up after 3 s. All of it can be run again.
DO $$ DECLARE half text; BEGIN
    SET LOCAL lock_timeout = '3s';

    FOR half IN
        SELECT i.indexrelid::regclass FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'notifications'::regclass AND NOT i.indisvalid AND c.relname = 'notifications_mailbox'
    LOOP
        EXECUTE 'DROP INDEX ' || half;
    END LOOP;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_mailbox ON notifications
    ((regexp_replace(lower(recipient), '^([^@+]+)[+][^@]*@', '\1@')), channel, sent_at) WHERE sent_at IS NOT NULL;
