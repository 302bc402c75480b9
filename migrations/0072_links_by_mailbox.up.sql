-- What a mailbox was sent of links within a day, whatever stands behind a plus sign in its address. Not in one transaction: the index is made
-- beside the work on accounts, and the drop of one that is half made gives up after 3 s. It can be run again after a failure.
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';

    IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('account_tokens_mailbox') AND NOT indisvalid) THEN
        DROP INDEX account_tokens_mailbox;
    END IF;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS account_tokens_mailbox ON account_tokens
    ((regexp_replace(lower(email), '^([^@+]+)[+][^@]*@', '\1@')), created_at);
