-- What a ledger entry adds to the sums of reports is appended, and added to them in the background. Before, every entry changed the
-- rows of its day and its text, and while a transaction kept an old snapshot open (an audit, an export, a dump) the versions of
-- these few rows could not be removed, and every entry read past all of them.

-- Writers are kept out first and readers after them, in the order in which both lock: no deadlock. What runs for minutes (an
-- audit, a dump) makes this migration fail after some seconds instead of stopping every payment that long.
SET LOCAL lock_timeout = '3s';
LOCK TABLE financial_records IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE report_days IN ACCESS EXCLUSIVE MODE;
LOCK TABLE report_texts IN ACCESS EXCLUSIVE MODE;

ALTER TABLE report_days RENAME TO report_days_folded;
ALTER TABLE report_texts RENAME TO report_texts_folded;

-- A row is what some entries of a text, a company and a day add to the sums, or take from them. Rows are only ever inserted, and
-- deleted by fold_reports(). There is no index: the table holds the entries of a second or two, and readers read all of it.
CREATE TABLE report_deltas (
    provider_id                uuid NOT NULL,
    text_id                    bigint NOT NULL,
    day                        date NOT NULL, -- record_date
    bookings_count             int NOT NULL,
    campaigns_count            int NOT NULL,
    in_current_balance_count   int NOT NULL,
    transferred_count          int NOT NULL,
    refunded_count             int NOT NULL,
    gross_amount               numeric(20, 2) NOT NULL,
    platform_commission_amount numeric(20, 2) NOT NULL,
    net_amount                 numeric(20, 2) NOT NULL,
    vat_amount                 numeric(20, 2) NOT NULL,
    in_current_balance_amount  numeric(20, 2) NOT NULL,
    transferred_amount         numeric(20, 2) NOT NULL,
    refunded_amount            numeric(20, 2) NOT NULL,
    advertising_revenue_amount numeric(20, 2) NOT NULL
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_insert_threshold = -1);

-- report_days and report_texts are what readers read, exact at every moment: what is folded and what is not, in one snapshot. They
-- have the columns of the tables before, for replicas of the version before.
CREATE VIEW report_days AS
SELECT provider_id, day, slot, gross_amount, platform_commission_amount, net_amount, vat_amount, in_current_balance_amount,
    transferred_amount, refunded_amount, advertising_revenue_amount, bookings_count, campaigns_count, in_current_balance_count,
    transferred_count, refunded_count
FROM report_days_folded
UNION ALL
SELECT provider_id, day, 0::smallint, gross_amount, platform_commission_amount, net_amount, vat_amount, in_current_balance_amount,
    transferred_amount, refunded_amount, advertising_revenue_amount, bookings_count::bigint, campaigns_count::bigint,
    in_current_balance_count::bigint, transferred_count::bigint, refunded_count::bigint
FROM report_deltas
UNION ALL
SELECT '00000000-0000-0000-0000-000000000000'::uuid, day, 0::smallint, gross_amount, platform_commission_amount, net_amount, vat_amount,
    in_current_balance_amount, transferred_amount, refunded_amount, advertising_revenue_amount, bookings_count::bigint,
    campaigns_count::bigint, in_current_balance_count::bigint, transferred_count::bigint, refunded_count::bigint
FROM report_deltas;

CREATE VIEW report_texts AS
SELECT text_id, provider_id, day, slot, in_current_balance_count, transferred_count, refunded_count FROM report_texts_folded
UNION ALL
SELECT text_id, provider_id, day, 0::smallint, in_current_balance_count::bigint, transferred_count::bigint, refunded_count::bigint
FROM report_deltas
UNION ALL
SELECT text_id, provider_id, '-infinity'::date, 0::smallint, in_current_balance_count::bigint, transferred_count::bigint,
    refunded_count::bigint
FROM report_deltas
UNION ALL
SELECT text_id, '00000000-0000-0000-0000-000000000000'::uuid, day, 0::smallint, in_current_balance_count::bigint,
    transferred_count::bigint, refunded_count::bigint
FROM report_deltas
UNION ALL
SELECT text_id, '00000000-0000-0000-0000-000000000000'::uuid, '-infinity'::date, 0::smallint, in_current_balance_count::bigint,
    transferred_count::bigint, refunded_count::bigint
FROM report_deltas;

-- report_lines appends what the entries of its transition table add to the sums, or take from them with -1 for its argument. It runs
-- as the owner of the tables: the role of API and worker may not write sums by itself.
CREATE OR REPLACE FUNCTION report_lines() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    sign CONSTANT int := TG_ARGV[0];
BEGIN
    INSERT INTO report_deltas (provider_id, text_id, day, bookings_count, campaigns_count, in_current_balance_count, transferred_count,
        refunded_count, gross_amount, platform_commission_amount, net_amount, vat_amount, in_current_balance_amount, transferred_amount,
        refunded_amount, advertising_revenue_amount)
    SELECT provider_id, text_id, record_date,
        sign * count(*) FILTER (WHERE kind = 'SALE' AND balance_status <> 'REFUNDED'),
        sign * count(*) FILTER (WHERE kind = 'ADVERTISING' AND balance_status <> 'REFUNDED'),
        sign * count(*) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'),
        sign * count(*) FILTER (WHERE balance_status = 'TRANSFERRED'),
        sign * count(*) FILTER (WHERE balance_status = 'REFUNDED'),
        sign * coalesce(sum(gross_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        sign * coalesce(sum(platform_commission_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        sign * coalesce(sum(net_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        sign * coalesce(sum(vat_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        sign * coalesce(sum(net_amount) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'), 0),
        sign * coalesce(sum(net_amount) FILTER (WHERE transferred_at IS NOT NULL), 0),
        sign * sum(refunded_amount),
        sign * coalesce(sum(gross_amount) FILTER (WHERE kind = 'ADVERTISING' AND balance_status <> 'REFUNDED'), 0)
    FROM lines GROUP BY provider_id, text_id, record_date;

    RETURN NULL;
END $$;

-- fold_reports adds up to so many deltas to the sums and deletes them, in one statement, and returns how many. One session folds at
-- a time; for another there is nothing to do. It waits for no writer of entries, and none waits for it. It runs as the owner, too.
CREATE FUNCTION fold_reports(at_most int) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    n bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock(728194609, 0) THEN
        RETURN 0;
    END IF;

    WITH gone AS (
        DELETE FROM report_deltas WHERE ctid = ANY (ARRAY(SELECT ctid FROM report_deltas LIMIT at_most)) RETURNING *
    ), days AS (
        INSERT INTO report_days_folded AS d
        SELECT CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END, day, 0,
            sum(gross_amount), sum(platform_commission_amount), sum(net_amount), sum(vat_amount), sum(in_current_balance_amount),
            sum(transferred_amount), sum(refunded_amount), sum(advertising_revenue_amount), sum(bookings_count), sum(campaigns_count),
            sum(in_current_balance_count), sum(transferred_count), sum(refunded_count)
        FROM gone GROUP BY GROUPING SETS ((day, provider_id), (day))
        ON CONFLICT (provider_id, day, slot) DO UPDATE SET
            gross_amount = d.gross_amount + EXCLUDED.gross_amount,
            platform_commission_amount = d.platform_commission_amount + EXCLUDED.platform_commission_amount,
            net_amount = d.net_amount + EXCLUDED.net_amount,
            vat_amount = d.vat_amount + EXCLUDED.vat_amount,
            in_current_balance_amount = d.in_current_balance_amount + EXCLUDED.in_current_balance_amount,
            transferred_amount = d.transferred_amount + EXCLUDED.transferred_amount,
            refunded_amount = d.refunded_amount + EXCLUDED.refunded_amount,
            advertising_revenue_amount = d.advertising_revenue_amount + EXCLUDED.advertising_revenue_amount,
            bookings_count = d.bookings_count + EXCLUDED.bookings_count,
            campaigns_count = d.campaigns_count + EXCLUDED.campaigns_count,
            in_current_balance_count = d.in_current_balance_count + EXCLUDED.in_current_balance_count,
            transferred_count = d.transferred_count + EXCLUDED.transferred_count,
            refunded_count = d.refunded_count + EXCLUDED.refunded_count
    ), texts AS (
        INSERT INTO report_texts_folded AS t
        SELECT text_id, CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END,
            CASE GROUPING(day) WHEN 0 THEN day ELSE '-infinity' END, 0,
            sum(in_current_balance_count), sum(transferred_count), sum(refunded_count)
        FROM gone GROUP BY text_id, CUBE (provider_id, day)
        ON CONFLICT (text_id, provider_id, day, slot) DO UPDATE SET
            in_current_balance_count = t.in_current_balance_count + EXCLUDED.in_current_balance_count,
            transferred_count = t.transferred_count + EXCLUDED.transferred_count,
            refunded_count = t.refunded_count + EXCLUDED.refunded_count
    )
    SELECT count(*) INTO n FROM gone;

    RETURN n;
END $$;

-- Both empty the sums, and first wait for a session that folds.
CREATE OR REPLACE FUNCTION report_nothing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(728194609, 0);
    DELETE FROM report_deltas;
    DELETE FROM report_days_folded;
    DELETE FROM report_texts_folded;

    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION rebuild_reports() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE financial_records IN SHARE MODE;
    PERFORM pg_advisory_xact_lock(728194609, 0);
    DELETE FROM report_deltas;
    DELETE FROM report_days_folded;

    INSERT INTO report_days_folded
    SELECT CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END, record_date, 0,
        coalesce(sum(gross_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        coalesce(sum(platform_commission_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        coalesce(sum(net_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        coalesce(sum(vat_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        coalesce(sum(net_amount) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'), 0),
        coalesce(sum(net_amount) FILTER (WHERE transferred_at IS NOT NULL), 0),
        sum(refunded_amount),
        coalesce(sum(gross_amount) FILTER (WHERE kind = 'ADVERTISING' AND balance_status <> 'REFUNDED'), 0),
        count(*) FILTER (WHERE kind = 'SALE' AND balance_status <> 'REFUNDED'),
        count(*) FILTER (WHERE kind = 'ADVERTISING' AND balance_status <> 'REFUNDED'),
        count(*) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'),
        count(*) FILTER (WHERE balance_status = 'TRANSFERRED'),
        count(*) FILTER (WHERE balance_status = 'REFUNDED')
    FROM financial_records GROUP BY GROUPING SETS ((record_date, provider_id), (record_date));

    DELETE FROM report_texts_folded;

    INSERT INTO report_texts_folded
    SELECT text_id, CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END,
        CASE GROUPING(record_date) WHEN 0 THEN record_date ELSE '-infinity' END, 0,
        coalesce(sum(n) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'), 0), coalesce(sum(n) FILTER (WHERE balance_status = 'TRANSFERRED'), 0),
        coalesce(sum(n) FILTER (WHERE balance_status = 'REFUNDED'), 0)
    FROM (
        SELECT text_id, provider_id, record_date, balance_status, count(*) AS n FROM financial_records GROUP BY 1, 2, 3, 4
    ) AS lines GROUP BY text_id, CUBE (provider_id, record_date);
END $$;

-- Replicas of the version before read on as a role that owns nothing, until rihla migrate has granted anew.
DO $$ DECLARE reader record; BEGIN
    FOR reader IN
        SELECT DISTINCT acl.grantee::regrole AS role FROM pg_class AS c, aclexplode(c.relacl) AS acl
        WHERE c.oid = 'report_days_folded'::regclass AND acl.privilege_type = 'SELECT' AND acl.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE format('GRANT SELECT ON report_days, report_texts, report_deltas TO %s', reader.role);
    END LOOP;
END $$;
