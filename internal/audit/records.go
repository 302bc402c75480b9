package audit

// recordChecks look at the ledger entries themselves (rules: ledger.lines).
func recordChecks() []check {
	return []check{
		recordArithmetic(), recordSubject(), recordCommission(), recordNumber(), splitChain(), splitShare(), clawback(),
		adjustment(),
	}
}

func recordArithmetic() check {
	return check{
		rules: []Rule{{"record-arithmetic", "On every entry gross is commission plus net, and the signs and the refunded amount are " +
			"those of its " +
			"kind and state."}},
		sql: `
SELECT 'record-arithmetic', 'record', r.id,
       format('%s %s: gross %s, commission %s, net %s, VAT %s, refunded %s', r.kind, r.balance_status,
              r.gross_amount, r.platform_commission_amount, r.net_amount, r.vat_amount, r.refunded_amount)
FROM financial_records AS r
WHERE r.gross_amount <> r.platform_commission_amount + r.net_amount
   OR r.refunded_amount <> CASE r.balance_status WHEN 'REFUNDED' THEN r.gross_amount ELSE 0 END
   OR CASE r.kind
      WHEN 'CLAWBACK' THEN r.net_amount >= 0 OR r.platform_commission_amount <> 0 OR r.vat_amount <> 0
      WHEN 'ADJUSTMENT' THEN r.net_amount = 0 OR r.platform_commission_amount <> 0 OR r.vat_amount <> 0
      WHEN 'ADVERTISING' THEN r.gross_amount <= 0 OR r.net_amount <> 0 OR r.vat_amount NOT BETWEEN 0 AND r.gross_amount
      ELSE r.gross_amount <= 0 OR r.net_amount < 0 OR r.platform_commission_amount < 0
           OR r.vat_amount NOT BETWEEN 0 AND r.gross_amount END
   OR (r.balance_status = 'TRANSFERRED' AND r.transferred_at IS NULL)
   OR (r.balance_status = 'IN_CURRENT_BALANCE' AND r.transferred_at IS NOT NULL)`,
	}
}

// recordSubject: the day in Riyadh is UTC plus three hours, all year.
func recordSubject() check {
	return check{
		rules: []Rule{{"record-subject", "An entry names the provider, booking or campaign of its payment, and counts on the payment's day in " +
			"Riyadh; a claw-back and an adjustment on its refund's."}},
		sql: `
SELECT 'record-subject', 'record', r.id,
       format('%s of payment %s: day %s, provider %s; the payment: captured %s, provider %s', r.kind, t.id,
              r.record_date, r.provider_id, coalesce(t.captured_at::text, 'never'), t.provider_id)
FROM financial_records AS r
LEFT JOIN payment_transactions AS t ON t.id = r.payment_transaction_id
LEFT JOIN refunds AS f ON f.id = r.refund_id AND r.kind IN ('CLAWBACK', 'ADJUSTMENT')
WHERE t.id IS NULL OR t.kind <> 'PAYMENT'
   OR r.provider_id <> t.provider_id OR r.currency <> t.currency
   OR r.booking_id IS DISTINCT FROM t.booking_id OR r.ad_campaign_id IS DISTINCT FROM t.ad_campaign_id
   OR (r.kind = 'SALE' AND t.booking_id IS NULL) OR (r.kind = 'ADVERTISING' AND t.ad_campaign_id IS NULL)
   OR r.record_date IS DISTINCT FROM
      ((CASE WHEN r.kind IN ('SALE', 'ADVERTISING') THEN t.captured_at ELSE f.completed_at END AT TIME ZONE 'UTC')
       + interval '3 hours')::date`,
	}
}

// recordCommission recomputes the commission with the rate that was copied into the attempt when it was opened. Parts of a split
// line are rounded each for itself: their sum is what the rate takes of the whole. Where the company has not been changed since the
// attempt was opened, the rate must be the company's own; a minute is left for changes that overlap.
func recordCommission() check {
	return check{
		needs: "financial_records.commission_rate",
		rules: []Rule{
			{"record-commission", "The commission of a payment's entries is what the rate of its attempt takes of them, half-up."},
			{"record-rate", "An entry has the rate of its attempt, a claw-back and an adjustment 0; an attempt has 1 for advertising, else " +
				"the provider's own, where the provider has not been changed since."},
		},
		sql: `
WITH paid AS (
    SELECT r.payment_transaction_id AS id, sum(r.gross_amount) AS gross, sum(r.platform_commission_amount) AS commission
    FROM financial_records AS r WHERE r.kind IN ('SALE', 'ADVERTISING') GROUP BY 1)
SELECT 'record-commission', 'payment', paid.id, format('commission %s of %s at %s', paid.commission, paid.gross, t.commission_rate)
FROM paid JOIN payment_transactions AS t ON t.id = paid.id
WHERE paid.commission <> div(paid.gross * 100 * (t.commission_rate * 10000) * 2 + 10000, 20000) / 100
UNION ALL
SELECT 'record-rate', 'record', r.id, format('%s at %s, its attempt at %s', r.kind, r.commission_rate, t.commission_rate)
FROM financial_records AS r JOIN payment_transactions AS t ON t.id = r.payment_transaction_id
WHERE r.commission_rate <> CASE WHEN r.kind IN ('SALE', 'ADVERTISING') THEN t.commission_rate ELSE 0 END
UNION ALL
SELECT 'record-rate', 'payment', t.id, format('opened at %s, the provider at %s', t.commission_rate, p.commission_rate)
FROM payment_transactions AS t JOIN providers AS p ON p.id = t.provider_id
WHERE t.kind = 'PAYMENT' AND t.commission_rate <> CASE
    WHEN t.ad_campaign_id IS NOT NULL THEN 1
    WHEN p.updated_at < t.created_at - interval '1 minute' THEN p.commission_rate
    ELSE t.commission_rate END`,
	}
}

func recordNumber() check {
	return check{
		rules: []Rule{{"record-number", "A transaction number is RH, the year of the entry, and a number that the sequence has already given " +
			"out."}},
		sql: `
SELECT 'record-number', 'record', r.id, format('%s on %s', r.transaction_number, r.record_date)
FROM financial_records AS r, financial_record_numbers AS s
WHERE r.transaction_number !~ '^RH-[0-9]{4}-[0-9]{6,18}$'
   OR substr(r.transaction_number, 4, 4) <> to_char(r.record_date, 'YYYY')
   OR CASE WHEN r.transaction_number ~ '^RH-[0-9]{4}-[0-9]{6,18}$'
      THEN substr(r.transaction_number, 9)::bigint > s.last_value ELSE false END`,
	}
}

func splitChain() check {
	return check{
		rules: []Rule{{"split-chain", "An entry that is the rest of another follows a refunded entry of the same payment, is its only rest, " +
			"and keeps its payout unless that was taken back."}},
		needs: "payout_reversals",
		sql: `
SELECT 'split-chain', 'record', r.id,
       format('%s of payment %s, split from %s (%s)', r.kind, r.payment_transaction_id, r.split_from, coalesce(o.balance_status, 'missing'))
FROM financial_records AS r
LEFT JOIN financial_records AS o ON o.id = r.split_from
WHERE r.split_from IS NOT NULL
  AND (o.id IS NULL OR o.payment_transaction_id <> r.payment_transaction_id OR o.kind <> r.kind OR r.kind NOT IN ('SALE', 'ADVERTISING')
       OR o.balance_status <> 'REFUNDED'
       OR (o.transferred_at IS NOT NULL AND NOT EXISTS (SELECT FROM payout_reversals AS v WHERE v.record_id = r.id)
           AND (r.transferred_at IS DISTINCT FROM o.transferred_at
           OR r.payout_reference IS DISTINCT FROM o.payout_reference OR r.payout_date IS DISTINCT FROM o.payout_date
           OR r.transferred_by IS DISTINCT FROM o.transferred_by)))
UNION ALL
SELECT 'split-chain', 'record', r.split_from, format('%s lines are the rest of it', count(*))
FROM financial_records AS r WHERE r.split_from IS NOT NULL GROUP BY r.split_from HAVING count(*) > 1`,
	}
}

// splitShare walks every chain of splits from its first entry and adds up from its end what each entry was before its
// refund. The shares are whole halalas, rounded half-up by integer division: no quotient is ever rounded twice.
func splitShare() check {
	return check{
		rules: []Rule{{"split-share", "A refund takes commission and VAT out of an entry in proportion, half-up; the rest keeps what remains."}},
		sql: `
WITH RECURSIVE rests AS MATERIALIZED (SELECT * FROM financial_records WHERE split_from IS NOT NULL),
chain AS (
    SELECT r.id AS first, r.id, 0 AS place, r.gross_amount, r.platform_commission_amount, r.vat_amount, r.balance_status
    FROM financial_records AS r
    WHERE r.split_from IS NULL AND r.id IN (SELECT split_from FROM rests)
    UNION ALL
    SELECT c.first, r.id, c.place + 1, r.gross_amount, r.platform_commission_amount, r.vat_amount, r.balance_status
    FROM chain AS c JOIN rests AS r ON r.split_from = c.id
    WHERE c.place < 1000
),
was AS (
    SELECT c.id, c.balance_status, c.platform_commission_amount AS commission, c.vat_amount AS vat,
           c.gross_amount * 100 AS part,
           sum(c.gross_amount) OVER w * 100 AS gross,
           sum(c.platform_commission_amount) OVER w * 100 AS whole_commission,
           sum(c.vat_amount) OVER w * 100 AS whole_vat
    FROM chain AS c
    WINDOW w AS (PARTITION BY c.first ORDER BY c.place DESC)
)
SELECT 'split-share', 'record', w.id, format('commission %s and VAT %s of %s, which is %s of %s with commission %s and VAT %s',
       w.commission, w.vat, round(w.part / 100, 2), round(w.part / 100, 2), round(w.gross / 100, 2),
       round(w.whole_commission / 100, 2), round(w.whole_vat / 100, 2))
FROM was AS w
WHERE w.balance_status = 'REFUNDED' AND w.gross > 0
  AND (w.commission * 100 <> div(2 * w.whole_commission * w.part + w.gross, nullif(2 * w.gross, 0))
       OR w.vat * 100 <> div(2 * w.whole_vat * w.part + w.gross, nullif(2 * w.gross, 0)))`,
	}
}

func clawback() check {
	return check{
		rules: []Rule{{"clawback", "For every refunded entry whose money had been paid out, and for no other, a claw-back takes back " +
			"exactly its net."}},
		sql: `
WITH back AS (SELECT * FROM financial_records WHERE kind = 'CLAWBACK'),
owed AS (SELECT * FROM financial_records
         WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status = 'REFUNDED' AND transferred_at IS NOT NULL AND net_amount <> 0)
SELECT 'clawback', 'record', coalesce(back.id, owed.id),
       format('claw-back %s, transferred net of the refunded part %s, refund %s', coalesce(back.net_amount::text, 'missing'),
              coalesce(owed.net_amount::text, 'none'), coalesce(back.refund_id, owed.refund_id))
FROM back FULL JOIN owed ON owed.refund_id = back.refund_id AND owed.payment_transaction_id = back.payment_transaction_id
WHERE back.net_amount IS DISTINCT FROM -owed.net_amount OR back.gross_amount IS DISTINCT FROM back.net_amount`,
	}
}

func adjustment() check {
	return check{
		needs: "refunds.bearer",
		rules: []Rule{{"adjustment", "A refund of a sale that one side bears alone has one adjustment: the company's share of the refunded " +
			"part where the platform bears it, and minus the commission's where the company does; no other refund has one."}},
		sql: `
WITH moved AS (SELECT * FROM financial_records WHERE kind = 'ADJUSTMENT'),
due AS (
    SELECT r.payment_transaction_id, r.refund_id,
           CASE f.bearer WHEN 'PLATFORM' THEN r.net_amount ELSE -r.platform_commission_amount END AS net_amount
    FROM financial_records AS r JOIN refunds AS f ON f.id = r.refund_id
    WHERE r.kind = 'SALE' AND r.balance_status = 'REFUNDED' AND f.bearer <> 'PROPORTIONAL'
      AND CASE f.bearer WHEN 'PLATFORM' THEN r.net_amount ELSE r.platform_commission_amount END <> 0)
SELECT 'adjustment', 'refund', coalesce(moved.refund_id, due.refund_id),
       format('adjusted by %s, due %s', coalesce(moved.net_amount::text, 'nothing'), coalesce(due.net_amount::text, 'nothing'))
FROM moved FULL JOIN due ON due.refund_id = moved.refund_id AND due.payment_transaction_id = moved.payment_transaction_id
WHERE moved.net_amount IS DISTINCT FROM due.net_amount OR moved.gross_amount IS DISTINCT FROM moved.net_amount`,
	}
}
