-- What a payment writes for indexes. Not in one transaction: an index that is made anew is made beside the work on its table, and each
-- change that locks has its lock alone, for a moment, and gives up after 3 s. All of it can be run again after a failure half-way.

-- New entries of the two trigram indexes that every payment writes to are appended to a list of the index, and are moved into its
-- tree by clean_search_lists(), many at a time: a number has 15 trigrams and a booking's words some hundred, and entries that are moved
-- together share most of the pages they change. A search reads the list, too. The limits are where the transaction that writes the
-- next entry would have to move them all, unless another writer did it before: 4 MB are 14,000 entries, 8 MB 6,000 bookings.
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    ALTER INDEX booking_texts_search SET (fastupdate = on, gin_pending_list_limit = 8192);
END $$;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    ALTER INDEX records_number_part SET (fastupdate = on, gin_pending_list_limit = 4096);
END $$;
--bun:split
-- The lists, how many rows of their table may be in them, and how many had been written to the table when they were last cleaned.
CREATE TABLE IF NOT EXISTS search_lists (
    index_name       text PRIMARY KEY,
    clean_after      bigint NOT NULL CHECK (clean_after > 0),
    rows_at_cleaning bigint NOT NULL DEFAULT 0
);
INSERT INTO search_lists (index_name, clean_after) VALUES ('booking_texts_search', 3000), ('records_number_part', 5000)
ON CONFLICT DO NOTHING;

-- clean_search_lists cleans the lists that have grown long, and returns how many of their pages it has emptied. Nothing tells how long
-- a list is but the rows that were written since; PostgreSQL counts them for autovacuum, and from zero again after a crash. One session
-- cleans at a time; for another there is nothing to do. It runs as the owner of the indexes, who alone may clean them.
CREATE OR REPLACE FUNCTION clean_search_lists() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    list  record;
    rows  bigint;
    pages bigint := 0;
BEGIN
    IF NOT pg_try_advisory_xact_lock(728194609, 1) THEN
        RETURN 0;
    END IF;

    FOR list IN
        SELECT l.*, i.indexrelid, i.indrelid FROM search_lists AS l
        JOIN pg_class AS c ON c.relname = l.index_name AND c.relnamespace = 'public'::regnamespace
        JOIN pg_index AS i ON i.indexrelid = c.oid
    LOOP
        rows := pg_stat_get_tuples_inserted(list.indrelid) + pg_stat_get_tuples_updated(list.indrelid);
        CONTINUE WHEN rows >= list.rows_at_cleaning AND rows < list.rows_at_cleaning + list.clean_after;

        pages := pages + gin_clean_pending_list(list.indexrelid);
        UPDATE search_lists SET rows_at_cleaning = rows WHERE index_name = list.index_name;
    END LOOP;

    RETURN pages;
END $$;
--bun:split
-- An attempt of a booking was in the indexes of campaigns, too, with no campaign, once for each of its versions.
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    DROP INDEX IF EXISTS transactions_campaign_attempt_new, transactions_campaign_pending_new, transactions_campaign_paid_new;
END $$;
--bun:split
CREATE UNIQUE INDEX CONCURRENTLY transactions_campaign_attempt_new ON payment_transactions (ad_campaign_id, attempt)
    WHERE kind = 'PAYMENT' AND ad_campaign_id IS NOT NULL;
--bun:split
CREATE UNIQUE INDEX CONCURRENTLY transactions_campaign_pending_new ON payment_transactions (ad_campaign_id)
    WHERE status = 'PENDING' AND ad_campaign_id IS NOT NULL;
--bun:split
CREATE UNIQUE INDEX CONCURRENTLY transactions_campaign_paid_new ON payment_transactions (ad_campaign_id)
    WHERE status = 'PAID' AND ad_campaign_id IS NOT NULL;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    DROP INDEX IF EXISTS transactions_campaign_attempt, transactions_campaign_pending, transactions_campaign_paid;
    ALTER INDEX transactions_campaign_attempt_new RENAME TO transactions_campaign_attempt;
    ALTER INDEX transactions_campaign_pending_new RENAME TO transactions_campaign_pending;
    ALTER INDEX transactions_campaign_paid_new RENAME TO transactions_campaign_paid;
END $$;
--bun:split
-- Messages are counted by when they were sent. One that has not been sent yet was in the index, too, twice.
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    DROP INDEX IF EXISTS notifications_recipient_new;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY notifications_recipient_new ON notifications (lower(recipient), channel, sent_at) WHERE sent_at IS NOT NULL;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    DROP INDEX IF EXISTS notifications_recipient;
    ALTER INDEX notifications_recipient_new RENAME TO notifications_recipient;
END $$;
--bun:split
-- A row that changes soon after it was written finds room for the new version beside the old one: then only what differs is logged,
-- and the answer that a key keeps needs no new entries in indexes.
ALTER TABLE notifications SET (fillfactor = 80);
--bun:split
ALTER TABLE idempotency_keys SET (fillfactor = 80);
