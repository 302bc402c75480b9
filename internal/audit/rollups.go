package audit

// rollupChecks recompute the sums that reports and lists are read from, and look at what searches find entries by
// (rules: reports.exact).
func rollupChecks() []check {
	return []check{reportDays(), reportStates(), recordText(), reportTexts()}
}

func reportDays() check {
	return check{
		rules: []Rule{{"report-days", "What reports read of a day, of each provider and of the whole platform, is what the entries of that " +
			"day add up to."}},
		needs: "report_days",
		reach: everything,
		sql: `
WITH line AS (
    SELECT provider_id, record_date AS day, kind, balance_status, transferred_at IS NOT NULL AS paid_out, count(*) AS n,
           sum(gross_amount) AS gross, sum(platform_commission_amount) AS commission, sum(net_amount) AS net,
           sum(vat_amount) AS vat, sum(refunded_amount) AS refunded
    FROM financial_records GROUP BY 1, 2, 3, 4, 5),
sums AS (
    SELECT provider_id, day, kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED' AS sold, kind, balance_status, paid_out,
           n, gross, commission, net, vat, refunded
    FROM line
    UNION ALL
    SELECT '00000000-0000-0000-0000-000000000000', day, kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED',
        kind, balance_status,
           paid_out, n, gross, commission, net, vat, refunded
    FROM line),
recomputed AS (
    SELECT provider_id, day, ARRAY[
        sum(CASE WHEN sold THEN gross ELSE 0 END), sum(CASE WHEN sold THEN commission ELSE 0 END),
        sum(CASE WHEN sold THEN net ELSE 0 END), sum(CASE WHEN sold THEN vat ELSE 0 END),
        sum(CASE WHEN balance_status = 'IN_CURRENT_BALANCE' THEN net ELSE 0 END), sum(CASE WHEN paid_out THEN net ELSE 0 END),
        sum(refunded), sum(CASE WHEN sold AND kind = 'ADVERTISING' THEN gross ELSE 0 END),
        sum(CASE WHEN sold AND kind = 'SALE' THEN n ELSE 0 END), sum(CASE WHEN sold AND kind = 'ADVERTISING' THEN n ELSE 0 END),
        sum(CASE balance_status WHEN 'IN_CURRENT_BALANCE' THEN n ELSE 0 END),
        sum(CASE balance_status WHEN 'TRANSFERRED' THEN n ELSE 0 END),
        sum(CASE balance_status WHEN 'REFUNDED' THEN n ELSE 0 END)] AS sums
    FROM sums GROUP BY provider_id, day),
kept AS (
    SELECT provider_id, day, ARRAY[
        sum(gross_amount), sum(platform_commission_amount), sum(net_amount), sum(vat_amount), sum(in_current_balance_amount),
        sum(transferred_amount), sum(refunded_amount), sum(advertising_revenue_amount), sum(bookings_count), sum(campaigns_count),
        sum(in_current_balance_count), sum(transferred_count), sum(refunded_count)] AS sums
    FROM report_days GROUP BY provider_id, day)
SELECT 'report-days', 'provider', coalesce(k.provider_id, r.provider_id),
       format('%s on %s is %s in the reports, %s in the lines', v.name, coalesce(k.day, r.day), coalesce(v.kept, 0),
       coalesce(v.recomputed, 0))
FROM kept AS k FULL JOIN recomputed AS r ON r.provider_id = k.provider_id AND r.day = k.day
CROSS JOIN LATERAL unnest(
    ARRAY['gross_amount', 'platform_commission_amount', 'net_amount', 'vat_amount', 'in_current_balance_amount', 'transferred_amount',
          'refunded_amount', 'advertising_revenue_amount', 'bookings_count', 'campaigns_count', 'in_current_balance_count',
          'transferred_count', 'refunded_count'], k.sums, r.sums) AS v (name, kept, recomputed)
WHERE coalesce(v.kept, 0) <> coalesce(v.recomputed, 0)
ORDER BY 3, coalesce(k.day, r.day)`,
	}
}

func reportStates() check {
	return check{
		rules: []Rule{{"report-states", "What the totals of records and the balances of companies read of a state, on each day and in all, of " +
			"each provider and of the whole platform, is what the entries add up to."}},
		needs: "report_states",
		reach: everything,
		sql: `
WITH line AS (
    SELECT provider_id, record_date AS day, balance_status, count(*)::numeric AS lines, sum(gross_amount) AS gross,
           sum(platform_commission_amount) AS commission, sum(net_amount) AS net, sum(vat_amount) AS vat, sum(refunded_amount) AS refunded,
           sum(CASE WHEN transferred_at IS NOT NULL THEN net_amount ELSE 0 END) AS paid_out
    FROM financial_records GROUP BY 1, 2, 3),
recomputed AS (
    SELECT w.provider_id, w.day, balance_status, ARRAY[sum(lines), sum(gross), sum(commission), sum(net), sum(vat), sum(refunded),
        sum(paid_out)] AS sums
    FROM line CROSS JOIN LATERAL (VALUES
        (line.provider_id, line.day), (line.provider_id, '-infinity'::date),
        ('00000000-0000-0000-0000-000000000000'::uuid, line.day), ('00000000-0000-0000-0000-000000000000', '-infinity')
    ) AS w (provider_id, day) GROUP BY 1, 2, 3),
kept AS (
    SELECT provider_id, day, balance_status, ARRAY[sum(lines), sum(gross_amount), sum(platform_commission_amount), sum(net_amount),
        sum(vat_amount), sum(refunded_amount), sum(transferred_amount)] AS sums
    FROM report_states GROUP BY 1, 2, 3)
SELECT 'report-states', 'provider', coalesce(k.provider_id, r.provider_id),
       format('%s of %s on %s is %s in the totals, %s in the lines', v.name, coalesce(k.balance_status, r.balance_status),
              coalesce(k.day, r.day), coalesce(v.kept, 0), coalesce(v.recomputed, 0))
FROM kept AS k FULL JOIN recomputed AS r ON r.provider_id = k.provider_id AND r.day = k.day AND r.balance_status = k.balance_status
CROSS JOIN LATERAL unnest(
    ARRAY['lines', 'gross_amount', 'platform_commission_amount', 'net_amount', 'vat_amount', 'refunded_amount', 'transferred_amount'],
    k.sums, r.sums
) AS v (name, kept, recomputed)
WHERE coalesce(v.kept, 0) <> coalesce(v.recomputed, 0)
ORDER BY 3, coalesce(k.day, r.day), coalesce(k.balance_status, r.balance_status)`,
	}
}

func recordText() check {
	return check{
		rules: []Rule{{"record-text", "The text that a search finds an entry by has the title and the details of the entry."}},
		needs: "record_texts",
		sql: `
SELECT 'record-text', 'record', r.id::text, format('%s is searched by text %s, which is another one', r.transaction_number, r.text_id)
FROM financial_records AS r LEFT JOIN record_texts AS t ON t.id = r.text_id
WHERE t.id IS NULL OR t.trip_title <> r.trip_title
   OR t.details || CASE r.kind WHEN 'CLAWBACK' THEN coalesce(substring(r.details FROM 'RH-[0-9]+-[0-9]+$'), '') ELSE '' END <> r.details
ORDER BY r.id`,
	}
}

func reportTexts() check {
	return check{
		rules: []Rule{{"report-texts", "What searches count of a text, of each provider and of the whole platform, on each day and in all, is " +
			"how many entries have the text."}},
		needs: "report_texts",
		reach: everything,
		sql: `
WITH line AS (
    SELECT text_id, provider_id, record_date AS day, sum(CASE balance_status WHEN 'IN_CURRENT_BALANCE' THEN 1 ELSE 0 END) AS open,
           sum(CASE balance_status WHEN 'TRANSFERRED' THEN 1 ELSE 0 END) AS transferred,
           sum(CASE balance_status WHEN 'REFUNDED' THEN 1 ELSE 0 END) AS refunded
    FROM financial_records GROUP BY 1, 2, 3),
recomputed AS (
    SELECT text_id, w.provider_id, w.day, sum(open) AS open, sum(transferred) AS transferred, sum(refunded) AS refunded
    FROM line CROSS JOIN LATERAL (VALUES
        (line.provider_id, line.day), (line.provider_id, '-infinity'::date),
        ('00000000-0000-0000-0000-000000000000'::uuid, line.day), ('00000000-0000-0000-0000-000000000000', '-infinity')
    ) AS w (provider_id, day) GROUP BY 1, 2, 3),
kept AS (
    SELECT text_id, provider_id, day, sum(in_current_balance_count) AS open, sum(transferred_count) AS transferred,
           sum(refunded_count) AS refunded
    FROM report_texts GROUP BY 1, 2, 3)
SELECT 'report-texts', 'provider', coalesce(k.provider_id, r.provider_id)::text,
       format('text %s on %s: searches count %s/%s/%s, the lines are %s/%s/%s', coalesce(k.text_id, r.text_id),
           coalesce(k.day, r.day), coalesce(k.open, 0), coalesce(k.transferred, 0), coalesce(k.refunded, 0),
           coalesce(r.open, 0), coalesce(r.transferred, 0), coalesce(r.refunded, 0))
FROM kept AS k FULL JOIN recomputed AS r ON r.text_id = k.text_id AND r.provider_id = k.provider_id AND r.day = k.day
WHERE (coalesce(k.open, 0), coalesce(k.transferred, 0), coalesce(k.refunded, 0))
   <> (coalesce(r.open, 0), coalesce(r.transferred, 0), coalesce(r.refunded, 0))
ORDER BY 3, 4`,
	}
}
