package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// RunSince is Run for what has happened since the last snapshot of the balances: it looks at every payment, booking and campaign that
// anything has happened to since then, or that something is still to happen to, with all that belongs to them, by the rules of Run; and
// it holds what reports say against the snapshot. Rules that need sums over everything are left to Run. An older row that was changed
// behind the service's back without a trace in time is found by Run alone. Error: ErrNoSnapshot, and those of Run.
func RunSince(ctx context.Context, db *sql.DB, found func(Difference) error) (Summary, error) {
	began := time.Now()

	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return Summary{}, fmt.Errorf("begin audit: %w", err)
	}
	defer func() { _ = tx.Rollback() }()

	var there bool
	if err := tx.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", snapshots).Scan(&there); err != nil || !there {
		return Summary{}, errors.Join(ErrNoSnapshot, err)
	}

	var since sql.NullTime
	if err := tx.QueryRowContext(ctx, "SELECT "+sealedUntil).Scan(&since); err != nil {
		return Summary{}, fmt.Errorf("look up the last snapshot: %w", err)
	}

	if !since.Valid {
		return Summary{}, ErrNoSnapshot
	}

	out, err := inspectSince(ctx, tx, since.Time, found)
	out.Took = time.Since(began)

	return out, err
}

// deadlines is how long before the snapshot the audit begins to look. Some rules give the service a day, and what was in time when the
// books were sealed has to be looked at again when it is not.
const deadlines = 48 * time.Hour

func inspectSince(ctx context.Context, tx *sql.Tx, since time.Time, found func(Difference) error) (Summary, error) {
	out := Summary{Since: since}

	if _, err := tx.ExecContext(ctx, settings); err != nil {
		return out, fmt.Errorf("prepare audit: %w", err)
	}

	from := since.Add(-deadlines)

	newest, err := newestLogSeal(ctx, tx)
	if err != nil {
		return out, fmt.Errorf("read the newest seal of the audit log: %w", err)
	}

	out.LogSeal = newest

	var payments, bookings, campaigns string
	if err := tx.QueryRowContext(ctx, touchedSQL, from).Scan(&payments, &bookings, &campaigns, &out.Payments); err != nil {
		return out, fmt.Errorf("look for what has happened: %w", err)
	}

	var all []check

	for _, c := range checks() {
		switch c.reach {
		case everything:
			out.Left = append(out.Left, c.rules...)
		case byPayment:
			c.sql, c.args = scoped(c.sql), []any{payments, bookings, campaigns, from}
			all = append(all, c)
		case besides:
			c.since = from
			all = append(all, c)
		}
	}

	all = append(all, sinceSnapshot())

	return out, inspectAll(ctx, tx, all, &out, found)
}

// touchedSQL finds the payments, bookings and campaigns that anything has happened to since $1, or that wait for something, as arrays in
// PostgreSQL's words. A payment is found by what was written for it, whether or not it is there itself. Entries of the audit log about
// several entries at once are of payouts, which have transfers. The attempts of a booking or of a campaign are judged together, so one
// brings the others with it.
const touchedSQL = `
WITH noted AS (
    SELECT entity_id AS id FROM audit_log WHERE created_at >= $1 AND entity IN ('refund', 'financial_record') AND entity_id IS NOT NULL),
happened AS (
    SELECT transaction_id AS id FROM ledger_transfers WHERE created_at >= $1
    UNION
    SELECT payment_transaction_id FROM financial_records WHERE updated_at >= $1 OR created_at >= $1
    UNION
    SELECT coalesce(parent_id, id) FROM payment_transactions WHERE updated_at >= $1 OR created_at >= $1 OR status = 'PENDING'
    UNION
    SELECT coalesce(t.parent_id, c.transaction_id) FROM transaction_state_changes AS c
    LEFT JOIN payment_transactions AS t ON t.id = c.transaction_id WHERE c.changed_at >= $1
    UNION
    SELECT payment_transaction_id FROM refunds WHERE updated_at >= $1 OR created_at >= $1 OR status = 'PENDING'
    UNION
    SELECT transaction_id FROM webhook_events WHERE received_at >= $1 OR processed_at >= $1 OR processed_at IS NULL
    UNION
    SELECT payment_transaction_id FROM incidents WHERE created_at >= $1 OR resolved_at >= $1 OR resolved_at IS NULL
    UNION
    SELECT r.payment_transaction_id FROM payout_reversals AS v JOIN financial_records AS r ON r.id = v.record_id WHERE v.created_at >= $1
    UNION
    SELECT f.payment_transaction_id FROM refund_payouts AS p JOIN refunds AS f ON f.id = p.refund_id WHERE p.decided_at >= $1
    UNION
    SELECT f.payment_transaction_id FROM noted AS n JOIN refunds AS f ON f.id = n.id
    UNION
    SELECT r.payment_transaction_id FROM noted AS n JOIN financial_records AS r ON r.id = n.id),
booking AS (
    SELECT id FROM bookings WHERE updated_at >= $1 OR created_at >= $1
    UNION
    SELECT b.id FROM trip_moves AS m JOIN bookings AS b ON b.trip_id = m.trip_id WHERE m.moved_at >= $1
    UNION
    SELECT t.booking_id FROM payment_transactions AS t JOIN happened AS h ON h.id = t.id),
campaign AS (
    SELECT id FROM ad_campaigns WHERE updated_at >= $1 OR created_at >= $1
    UNION
    SELECT t.ad_campaign_id FROM payment_transactions AS t JOIN happened AS h ON h.id = t.id),
payment AS (
    SELECT id FROM happened
    UNION
    SELECT t.id FROM payment_transactions AS t JOIN booking AS b ON b.id = t.booking_id WHERE t.kind <> 'REFUND'
    UNION
    SELECT t.id FROM payment_transactions AS t JOIN campaign AS c ON c.id = t.ad_campaign_id WHERE t.kind <> 'REFUND'),
paid_back AS (SELECT t.id FROM payment_transactions AS t JOIN payment AS p ON p.id = t.parent_id)
SELECT coalesce((SELECT array_agg(id) FROM (SELECT id FROM payment UNION SELECT id FROM paid_back) AS t WHERE id IS NOT NULL), '{}')::text,
       coalesce((SELECT array_agg(id) FROM booking WHERE id IS NOT NULL), '{}')::text,
       coalesce((SELECT array_agg(id) FROM campaign WHERE id IS NOT NULL), '{}')::text,
       (SELECT count(*) FROM payment WHERE id IS NOT NULL)`

// touched are the tables as a check sees them that looks at some payments and the transactions of their refunds ($1), bookings ($2) and
// campaigns ($3): what belongs to them, whenever it happened. Of what belongs to no payment it is what has happened since $4. The name of
// a query in WITH comes before that of a table, so that the checks say nothing of it.
const touched = `
WITH RECURSIVE payment_transactions AS NOT MATERIALIZED (
    SELECT * FROM public.payment_transactions WHERE id IN (SELECT unnest($1::uuid[]))),
financial_records AS NOT MATERIALIZED (
    SELECT * FROM public.financial_records WHERE payment_transaction_id IN (SELECT unnest($1::uuid[]))),
ledger_transfers AS NOT MATERIALIZED (SELECT * FROM public.ledger_transfers WHERE transaction_id IN (SELECT unnest($1::uuid[]))),
refunds AS NOT MATERIALIZED (SELECT * FROM public.refunds WHERE payment_transaction_id IN (SELECT unnest($1::uuid[]))),
refund_payouts AS NOT MATERIALIZED (SELECT * FROM public.refund_payouts WHERE refund_id IN (SELECT id FROM refunds)),
payout_reversals AS NOT MATERIALIZED (SELECT * FROM public.payout_reversals WHERE record_id IN (SELECT id FROM financial_records)),
transaction_state_changes AS NOT MATERIALIZED (
    SELECT * FROM public.transaction_state_changes WHERE transaction_id IN (SELECT unnest($1::uuid[]))),
webhook_events AS NOT MATERIALIZED (
    SELECT * FROM public.webhook_events WHERE transaction_id IN (SELECT unnest($1::uuid[]))
    UNION ALL
    SELECT * FROM public.webhook_events WHERE transaction_id IS NULL AND received_at >= $4),
incidents AS NOT MATERIALIZED (
    SELECT * FROM public.incidents WHERE payment_transaction_id IS NULL OR payment_transaction_id IN (SELECT unnest($1::uuid[]))),
notifications AS NOT MATERIALIZED (
    SELECT * FROM public.notifications WHERE transaction_id IN (SELECT unnest($1::uuid[]))),
audit_log AS NOT MATERIALIZED (
    SELECT * FROM public.audit_log WHERE created_at >= $4
    UNION ALL
    SELECT * FROM public.audit_log
    WHERE created_at < $4 AND entity_id IN (SELECT id FROM refunds UNION ALL SELECT id FROM financial_records)
    UNION ALL
    SELECT * FROM public.audit_log WHERE created_at < $4 AND action LIKE 'FINANCIAL_RECORD%TRANSFERRED'
        AND jsonb_typeof(details -> 'ids') = 'array' -- about several
        AND (entity_id IS NULL OR entity_id NOT IN (SELECT id FROM refunds UNION ALL SELECT id FROM financial_records))),
cancellations AS NOT MATERIALIZED (SELECT * FROM public.cancellations WHERE booking_id IN (SELECT unnest($2::uuid[]))),
bookings AS NOT MATERIALIZED (SELECT * FROM public.bookings WHERE id IN (SELECT unnest($2::uuid[]))),
ad_campaigns AS NOT MATERIALIZED (SELECT * FROM public.ad_campaigns WHERE id IN (SELECT unnest($3::uuid[]))),
trips AS NOT MATERIALIZED (SELECT * FROM public.trips WHERE id IN (SELECT trip_id FROM bookings))`

// scoped is a check's SQL over the touched tables.
func scoped(check string) string { return within(touched, check) }

// within is a check's SQL over tables that other queries in WITH stand for.
func within(tables, check string) string {
	check = strings.TrimSpace(check)

	for _, with := range []string{"WITH RECURSIVE ", "WITH "} {
		if rest, found := strings.CutPrefix(check, with); found {
			return tables + ",\n" + rest
		}
	}

	return tables + "\n" + check
}
