-- Sums of what was sold name the kinds that are of a payment. They named the one that is not: a further kind would have been summed as a sale.
SET LOCAL lock_timeout = '3s';

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
        sign * coalesce(sum(gross_amount) FILTER (WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED'), 0),
        sign * coalesce(sum(platform_commission_amount) FILTER (WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED'), 0),
        sign * coalesce(sum(net_amount) FILTER (WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED'), 0),
        sign * coalesce(sum(vat_amount) FILTER (WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED'), 0),
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

CREATE OR REPLACE FUNCTION rebuild_reports() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE financial_records IN SHARE MODE;
    PERFORM pg_advisory_xact_lock(728194609, 0);
    DELETE FROM report_deltas;
    DELETE FROM report_days_folded;

    INSERT INTO report_days_folded
    SELECT CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END, record_date, 0,
        coalesce(sum(gross_amount) FILTER (WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED'), 0),
        coalesce(sum(platform_commission_amount) FILTER (WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED'), 0),
        coalesce(sum(net_amount) FILTER (WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED'), 0),
        coalesce(sum(vat_amount) FILTER (WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED'), 0),
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
