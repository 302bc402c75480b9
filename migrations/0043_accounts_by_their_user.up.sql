-- What is found by an account: its last log-in, for lists of accounts, and the notices that its owner has had, which strangers have
-- looked up by registering its address again. Not in one transaction: the indexes are made beside the work on their tables, and the drop
-- of one that is half made gives up after 3 s. All of it can be run again after a failure half-way.
DO $$ DECLARE half text; BEGIN
    SET LOCAL lock_timeout = '3s';

    FOR half IN
        SELECT i.indexrelid::regclass FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indrelid IN ('sessions'::regclass, 'notifications'::regclass) AND NOT i.indisvalid
            AND c.relname IN ('sessions_of_user', 'notifications_of_user')
    LOOP
        EXECUTE 'DROP INDEX ' || half;
    END LOOP;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_of_user ON sessions (user_id, created_at DESC);
--bun:split
-- Messages about payments name no account: nothing is written for them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_of_user ON notifications (user_id, kind, created_at) WHERE user_id IS NOT NULL;
