-- What ledger entries add up to in each state, per company and day and on all days, and once more for the platform: the totals of a list of
-- records and the balances of companies read a few rows. The sums of days (migrations 0008 and 0033) have what was sold, in one sum for all
-- states, and a row for each day.

-- Writers are kept out while the existing entries are added up, about a second for a million. What runs for minutes (an audit, a dump)
-- makes this migration fail after some seconds instead of stopping every payment that long.
SET LOCAL lock_timeout = '3s';
LOCK TABLE financial_records IN SHARE ROW EXCLUSIVE MODE;

CREATE TABLE report_states_folded (
    provider_id                uuid NOT NULL, -- or that of the platform, as in report_days_folded
    day                        date NOT NULL, -- record_date; -infinity: all days
    balance_status             text NOT NULL,
    lines                      bigint NOT NULL,
    gross_amount               numeric(20, 2) NOT NULL,
    platform_commission_amount numeric(20, 2) NOT NULL,
    net_amount                 numeric(20, 2) NOT NULL,
    vat_amount                 numeric(20, 2) NOT NULL,
    refunded_amount            numeric(20, 2) NOT NULL,
    transferred_amount         numeric(20, 2) NOT NULL, -- the net amount of entries that are marked as transferred, also of refunded ones
    PRIMARY KEY (provider_id, day, balance_status)
) WITH (fillfactor = 70);

-- As report_deltas: rows are only ever inserted, and deleted by fold_reports().
CREATE TABLE report_state_deltas (
    provider_id                uuid NOT NULL,
    day                        date NOT NULL,
    balance_status             text NOT NULL,
    lines                      int NOT NULL,
    gross_amount               numeric(20, 2) NOT NULL,
    platform_commission_amount numeric(20, 2) NOT NULL,
    net_amount                 numeric(20, 2) NOT NULL,
    vat_amount                 numeric(20, 2) NOT NULL,
    refunded_amount            numeric(20, 2) NOT NULL,
    transferred_amount         numeric(20, 2) NOT NULL
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_insert_threshold = -1);

CREATE VIEW report_states AS
SELECT provider_id, day, balance_status, lines, gross_amount, platform_commission_amount, net_amount, vat_amount, refunded_amount,
    transferred_amount
FROM report_states_folded
UNION ALL
SELECT provider_id, day, balance_status, lines::bigint, gross_amount, platform_commission_amount, net_amount, vat_amount,
    refunded_amount, transferred_amount
FROM report_state_deltas
UNION ALL
SELECT provider_id, '-infinity'::date, balance_status, lines::bigint, gross_amount, platform_commission_amount, net_amount, vat_amount,
    refunded_amount, transferred_amount
FROM report_state_deltas
UNION ALL
SELECT '00000000-0000-0000-0000-000000000000'::uuid, day, balance_status, lines::bigint, gross_amount, platform_commission_amount, net_amount, vat_amount,
    refunded_amount, transferred_amount
FROM report_state_deltas
UNION ALL
SELECT '00000000-0000-0000-0000-000000000000'::uuid, '-infinity'::date, balance_status, lines::bigint, gross_amount, platform_commission_amount, net_amount, vat_amount,
    refunded_amount, transferred_amount
FROM report_state_deltas;

-- The functions of migration 0033, with the sums of states.
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

    INSERT INTO report_state_deltas (provider_id, day, balance_status, lines, gross_amount, platform_commission_amount, net_amount,
        vat_amount, refunded_amount, transferred_amount)
    SELECT provider_id, record_date, balance_status, sign * count(*), sign * sum(gross_amount), sign * sum(platform_commission_amount),
        sign * sum(net_amount), sign * sum(vat_amount), sign * sum(refunded_amount),
        sign * coalesce(sum(net_amount) FILTER (WHERE transferred_at IS NOT NULL), 0)
    FROM lines GROUP BY provider_id, record_date, balance_status;

    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION fold_reports(at_most int) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    n bigint;
    of_states bigint;
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

    WITH gone AS (
        DELETE FROM report_state_deltas WHERE ctid = ANY (ARRAY(SELECT ctid FROM report_state_deltas LIMIT at_most)) RETURNING *
    ), states AS (
        INSERT INTO report_states_folded AS s
        SELECT CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END,
            CASE GROUPING(day) WHEN 0 THEN day ELSE '-infinity' END, balance_status, sum(lines), sum(gross_amount),
            sum(platform_commission_amount), sum(net_amount), sum(vat_amount), sum(refunded_amount), sum(transferred_amount)
        FROM gone GROUP BY balance_status, CUBE (provider_id, day)
        ON CONFLICT (provider_id, day, balance_status) DO UPDATE SET
            lines = s.lines + EXCLUDED.lines,
            gross_amount = s.gross_amount + EXCLUDED.gross_amount,
            platform_commission_amount = s.platform_commission_amount + EXCLUDED.platform_commission_amount,
            net_amount = s.net_amount + EXCLUDED.net_amount,
            vat_amount = s.vat_amount + EXCLUDED.vat_amount,
            refunded_amount = s.refunded_amount + EXCLUDED.refunded_amount,
            transferred_amount = s.transferred_amount + EXCLUDED.transferred_amount
    )
    SELECT count(*) INTO of_states FROM gone;

    RETURN greatest(n, of_states);
END $$;

CREATE OR REPLACE FUNCTION report_nothing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(728194609, 0);
    DELETE FROM report_deltas;
    DELETE FROM report_days_folded;
    DELETE FROM report_texts_folded;
    DELETE FROM report_state_deltas;
    DELETE FROM report_states_folded;

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

    DELETE FROM report_state_deltas;
    DELETE FROM report_states_folded;

    INSERT INTO report_states_folded
    SELECT CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END,
        CASE GROUPING(record_date) WHEN 0 THEN record_date ELSE '-infinity' END, balance_status,
        count(*), sum(gross_amount), sum(platform_commission_amount), sum(net_amount), sum(vat_amount), sum(refunded_amount),
        coalesce(sum(net_amount) FILTER (WHERE transferred_at IS NOT NULL), 0)
    FROM financial_records GROUP BY balance_status, CUBE (provider_id, record_date);
END $$;

INSERT INTO report_states_folded
SELECT CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END,
    CASE GROUPING(record_date) WHEN 0 THEN record_date ELSE '-infinity' END, balance_status,
    count(*), sum(gross_amount), sum(platform_commission_amount), sum(net_amount), sum(vat_amount), sum(refunded_amount),
    coalesce(sum(net_amount) FILTER (WHERE transferred_at IS NOT NULL), 0)
FROM financial_records GROUP BY balance_status, CUBE (provider_id, record_date);
