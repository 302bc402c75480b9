-- The trail of payments' states and the audit log grow for ever, and nothing in them changes. From now on they are partitioned by
-- month (UTC), so that a month that is over can be kept elsewhere as a whole. What is there becomes the first partition as it is:
-- no row is written again.

-- Both tables are read once while they are locked, to see that all rows lie before the next month. Writers of payments are kept out
-- first, in the order in which they write. What runs for minutes (an audit, a dump) makes this migration fail after some seconds
-- instead of stopping every payment that long.
SET LOCAL lock_timeout = '3s';
SET LOCAL timezone = 'UTC';
LOCK TABLE payment_transactions IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE transaction_state_changes IN ACCESS EXCLUSIVE MODE;
LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE;

-- Partitions have a primary key each; one of the whole table would have to hold the time as well, and be built for what is there. The
-- ids are a sequence's and UUIDv7: two of different months differ.
ALTER TABLE transaction_state_changes RENAME TO transaction_state_changes_past;
ALTER TABLE transaction_state_changes_past RENAME CONSTRAINT transaction_state_changes_pkey TO transaction_state_changes_past_pkey;
ALTER TABLE transaction_state_changes_past RENAME CONSTRAINT transaction_state_changes_transaction_id_fkey
    TO transaction_state_changes_past_transaction_id_fkey;
ALTER INDEX transaction_state_changes_transaction RENAME TO transaction_state_changes_past_transaction;

-- PostgreSQL before 17 has no identity columns in partitions.
DO $$ DECLARE next bigint := nextval(pg_get_serial_sequence('transaction_state_changes_past', 'id')); BEGIN
    ALTER TABLE transaction_state_changes_past ALTER COLUMN id DROP IDENTITY;
    EXECUTE format('CREATE SEQUENCE transaction_state_changes_id_seq START %s', next);
    ALTER TABLE transaction_state_changes_past ALTER COLUMN id SET DEFAULT nextval('transaction_state_changes_id_seq');
END $$;

CREATE TABLE transaction_state_changes (
    LIKE transaction_state_changes_past INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE,
    FOREIGN KEY (transaction_id) REFERENCES payment_transactions (id)
) PARTITION BY RANGE (changed_at);
ALTER SEQUENCE transaction_state_changes_id_seq OWNED BY transaction_state_changes.id;
CREATE INDEX transaction_state_changes_transaction ON transaction_state_changes (transaction_id, id);

ALTER TABLE audit_log RENAME TO audit_log_past;
ALTER TABLE audit_log_past RENAME CONSTRAINT audit_log_pkey TO audit_log_past_pkey;
ALTER INDEX audit_log_created RENAME TO audit_log_past_created;
ALTER INDEX audit_log_actor RENAME TO audit_log_past_actor;
ALTER INDEX audit_log_action RENAME TO audit_log_past_action;
ALTER INDEX audit_log_about RENAME TO audit_log_past_about;
ALTER INDEX audit_log_about_id RENAME TO audit_log_past_about_id;

CREATE TABLE audit_log (
    LIKE audit_log_past INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING STORAGE
) PARTITION BY RANGE (created_at);
CREATE INDEX audit_log_created ON audit_log (created_at DESC, id);
CREATE INDEX audit_log_actor ON audit_log (actor_id, created_at DESC, id) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_log_action ON audit_log (action, created_at DESC, id);
CREATE INDEX audit_log_about ON audit_log (entity, entity_id, created_at DESC, id);
CREATE INDEX audit_log_about_id ON audit_log (entity_id, created_at DESC, id) WHERE entity_id IS NOT NULL;

-- make_months makes the partitions of months that are still missing: this one, and so many ahead. It is run by every sweep, and
-- nearly always finds nothing to do. A row of a month that has no partition yet is in the default partition, and moves when its month
-- is made. It runs as the owner of the tables, and leaves no other role a right on a partition: rows are written, and read, through the
-- table that has it. It gives up soon where it would have to wait, as payments would wait behind it: there are months of time.
CREATE FUNCTION make_months(ahead int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO' SET lock_timeout = '200ms' AS $$
DECLARE
    parent  text;
    period  text; -- the column of the time
    fields  text;
    month   timestamptz;
    made    text;
    grantee text;
    n       int := 0;
BEGIN
    IF NOT pg_try_advisory_xact_lock(728194609, 2) THEN
        RETURN 0;
    END IF;

    FOREACH parent IN ARRAY ARRAY['audit_log', 'transaction_state_changes'] LOOP
        SELECT a.attname INTO period FROM pg_partitioned_table AS p JOIN pg_attribute AS a ON a.attrelid = p.partrelid
            AND a.attnum = p.partattrs[0] WHERE p.partrelid = parent::regclass;

        SELECT max((regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'))[1]::timestamptz) INTO month
        FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = parent::regclass;
        month := coalesce(month, date_trunc('month', now()));

        WHILE month <= date_trunc('month', now()) + make_interval(months => least(ahead, 24)) LOOP
            made := parent || to_char(month, '_YYYY_MM');
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING STORAGE, '
                'PRIMARY KEY (id))', made, parent);

            FOR grantee IN
                SELECT DISTINCT CASE acl.grantee WHEN 0 THEN 'PUBLIC' ELSE acl.grantee::regrole::text END
                FROM pg_class AS c, aclexplode(c.relacl) AS acl WHERE c.oid = made::regclass AND acl.grantee <> c.relowner
            LOOP
                EXECUTE format('REVOKE ALL ON %I FROM %s', made, grantee);
            END LOOP;

            SELECT string_agg(quote_ident(attname), ', ') INTO fields FROM pg_attribute
            WHERE attrelid = made::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '';

            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_default');
            EXECUTE format('WITH moved AS (DELETE FROM %1$I WHERE %2$I >= %3$L AND %2$I < %4$L RETURNING *) '
                'INSERT INTO %5$I (%6$s) SELECT %6$s FROM moved',
                parent || '_default', period, month, month + interval '1 month', made, fields);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                parent, made, month, month + interval '1 month');

            month := month + interval '1 month';
            n := n + 1;
        END LOOP;
    END LOOP;

    RETURN n;
END $$;

-- The past goes on to the end of this month, or of that of a row from the future.
DO $$ DECLARE until timestamptz; grantee record; BEGIN
    SELECT date_trunc('month', greatest(max(changed_at), now())) + interval '1 month' INTO until FROM transaction_state_changes_past;
    EXECUTE format('ALTER TABLE transaction_state_changes ATTACH PARTITION transaction_state_changes_past '
        'FOR VALUES FROM (MINVALUE) TO (%L)', until);

    SELECT date_trunc('month', greatest(max(created_at), now())) + interval '1 month' INTO until FROM audit_log_past;
    EXECUTE format('ALTER TABLE audit_log ATTACH PARTITION audit_log_past FOR VALUES FROM (MINVALUE) TO (%L)', until);

    -- Replicas of the version before write and read on as a role that owns nothing, and no longer may write past the tables.
    FOR grantee IN
        SELECT DISTINCT replace(c.relname, '_past', '') AS parent, c.relname AS past, acl.grantee::regrole AS role, acl.privilege_type
        FROM pg_class AS c, aclexplode(c.relacl) AS acl
        WHERE c.oid IN ('transaction_state_changes_past'::regclass, 'audit_log_past'::regclass) AND acl.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE format('GRANT %s ON %I TO %s', grantee.privilege_type, grantee.parent, grantee.role);
        EXECUTE format('REVOKE ALL ON %I FROM %s', grantee.past, grantee.role);
        EXECUTE format('GRANT USAGE, SELECT ON SEQUENCE transaction_state_changes_id_seq TO %s', grantee.role);
    END LOOP;
END $$;

CREATE TABLE transaction_state_changes_default PARTITION OF transaction_state_changes (PRIMARY KEY (id)) DEFAULT;
CREATE TABLE audit_log_default PARTITION OF audit_log (PRIMARY KEY (id)) DEFAULT;
SELECT make_months(3);

-- What was archived: a row tells what a month had when its rows left the table. The audit goes by it. Only rihla archive, as the owner,
-- writes one, in the transaction that takes the month out.
CREATE TABLE archived_months (
    table_name  text NOT NULL,
    since       timestamptz, -- NULL: the table's beginning
    until       timestamptz NOT NULL CHECK (until > since),
    rows        bigint NOT NULL CHECK (rows >= 0),
    sums        jsonb NOT NULL, -- how many facts of which kind
    sha256      text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'), -- of the file's content before it was compressed
    file        text NOT NULL,
    archived_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (table_name, until)
);

CREATE FUNCTION refuse_archive_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'archived_months is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER archived_append_only BEFORE UPDATE OR DELETE ON archived_months FOR EACH ROW EXECUTE FUNCTION refuse_archive_change();
CREATE TRIGGER archived_no_truncate BEFORE TRUNCATE ON archived_months FOR EACH STATEMENT EXECUTE FUNCTION refuse_archive_change();
