package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/google/uuid"
)

// ledger grows a ledger of made-up entries in a private database: only what reports and lists read.
type seededLedger struct {
	db    *sql.DB
	lines int
	big   uuid.UUID // the provider whose reports are measured; it has a tenth of the entries

	ownTitles bool // every hundred seats are a tour of their own
}

// The entries of a ledger of any size fall on the same year, belong to the same fifty companies and have the same shares of
// advertising, refunds, claw-backs and payouts, so that only the number of entries differs. They are for the same thousand
// tours, which are sold again and again under their titles; or, at the worst, every hundred seats are a tour of their own.
const (
	seedProviders = 50
	seedDays      = 365
	seedTours     = 1000
	seatsOfATour  = 100
)

// %[1]d entries from number %[2]d on. Line numbers are spread over days, companies and trips by multiplication with primes.
const seedEntries = `
INSERT INTO financial_records (id, transaction_number, kind, payment_transaction_id, provider_id, booking_id, ad_campaign_id, refund_id,
    gross_amount, platform_commission_amount, net_amount, vat_amount, refunded_amount, trip_title, details, record_date,
    balance_status, transferred_at, created_at, text_id, commission_rate)
SELECT gen_random_uuid(), 'RH-2025-' || lpad(n::text, 8, '0'), kind, gen_random_uuid(), p.id,
    CASE kind WHEN 'ADVERTISING' THEN NULL ELSE gen_random_uuid() END, CASE kind WHEN 'ADVERTISING' THEN gen_random_uuid() END,
    CASE WHEN kind = 'CLAWBACK' OR status = 'REFUNDED' THEN gen_random_uuid() END,
    gross, CASE kind WHEN 'SALE' THEN round(gross / 10, 2) WHEN 'ADVERTISING' THEN gross ELSE 0 END,
    CASE kind WHEN 'SALE' THEN gross - round(gross / 10, 2) WHEN 'ADVERTISING' THEN 0 ELSE gross END,
    CASE kind WHEN 'SALE' THEN gross - round(gross / 1.15, 2) WHEN 'ADVERTISING' THEN gross - round(gross / 1.2, 2) ELSE 0 END,
    CASE status WHEN 'REFUNDED' THEN gross ELSE 0 END, title,
    CASE kind WHEN 'SALE' THEN title WHEN 'ADVERTISING' THEN 'Ad campaign for trip ' || title ELSE 'Claw-back of RH-2025-' || n END,
    day, status, CASE status WHEN 'TRANSFERRED' THEN day + interval '1 day' END, day + n %% 86400 * interval '1 second',
    text.ids[CASE kind WHEN 'SALE' THEN 1 WHEN 'ADVERTISING' THEN 2 ELSE 3 END],
    CASE kind WHEN 'SALE' THEN 0.1 WHEN 'ADVERTISING' THEN 1 ELSE 0 END
FROM (
    SELECT n, n * 7919::bigint %% 100 AS h, tour, 'Umrah trip ' || lpad(tour::text, 6, '0') AS title,
        date '2025-12-01' + (n * 104729::bigint %% $1)::int AS day
    FROM generate_series(%[2]d, %[2]d + %[1]d - 1) AS n, LATERAL (SELECT %[3]s AS tour) AS t
) AS line
CROSS JOIN LATERAL (SELECT CASE WHEN h < 4 THEN 'ADVERTISING' WHEN h < 6 THEN 'CLAWBACK' ELSE 'SALE' END AS kind,
    CASE WHEN h < 6 THEN 'IN_CURRENT_BALANCE' WHEN h < 11 THEN 'REFUNDED' WHEN h < 30 THEN 'IN_CURRENT_BALANCE' ELSE 'TRANSFERRED' END
    AS status) AS k
CROSS JOIN LATERAL (SELECT CASE kind WHEN 'CLAWBACK' THEN -1 ELSE 1 END
    * (50 + n * 31 %% 5000 + (n %% 100) / 100.0)::numeric(14, 2) AS gross) AS m
JOIN companies AS p ON p.place = CASE WHEN h %% 10 = 3 THEN 0 ELSE line.n * 15485863::bigint %% $2 END
JOIN tours AS text ON text.tour = line.tour`

// The texts of the tours that there are not yet, by kind of entry.
const seedTexts = `
INSERT INTO tours SELECT tour, ARRAY[record_text_id('SALE', title, title),
    record_text_id('ADVERTISING', title, 'Ad campaign for trip ' || title), record_text_id('CLAWBACK', title, 'Claw-back of ')]
FROM (SELECT DISTINCT %[3]s AS tour FROM generate_series(%[2]d, %[2]d + %[1]d - 1) AS n) AS t,
    LATERAL (SELECT 'Umrah trip ' || lpad(tour::text, 6, '0') AS title) AS named
ON CONFLICT DO NOTHING`

// tour is the SQL of the number of the tour that entry n is for.
func (l *seededLedger) tour() string {
	if l.ownTitles {
		return fmt.Sprintf("n / %d", seatsOfATour)
	}

	return fmt.Sprintf("n * 6700417::bigint %% %d", seedTours)
}

// grow adds entries until there are as many as asked for. Indexes and sums are made after the entries, as after any bulk load.
func (l *seededLedger) grow(ctx context.Context, lines int) error {
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()

	run := func(query string, args ...any) error {
		if err != nil {
			return err
		}

		if _, err = conn.ExecContext(ctx, query, args...); err != nil {
			err = fmt.Errorf("grow the ledger: %w", err)
		}

		return err
	}

	_ = run("SET maintenance_work_mem = '1GB'")

	if l.lines == 0 {
		_ = run(`INSERT INTO providers (id, name, email, phone, commission_rate, status)
			SELECT gen_random_uuid(), 'Company ' || n, 'company-' || n || '@rihla.test', '+966500000000', 0.10, 'ACTIVE'
			FROM generate_series(1, $1) AS n`, seedProviders)
		_ = run("CREATE TABLE companies AS SELECT row_number() OVER (ORDER BY id) - 1 AS place, id FROM providers")
		_ = run("CREATE TABLE tours (tour bigint PRIMARY KEY, ids bigint[] NOT NULL)")

		if err == nil {
			err = conn.QueryRowContext(ctx, "SELECT id FROM companies WHERE place = 0").Scan(&l.big)
		}
	}

	indexes, listErr := secondaryIndexes(ctx, conn)
	if listErr != nil {
		return listErr
	}

	for name := range indexes {
		_ = run("DROP INDEX " + name)
	}

	_ = run(fmt.Sprintf(seedTexts, lines-l.lines, l.lines+1, l.tour()))
	_ = run("ANALYZE tours")
	// Triggers and foreign keys are off for the entries, which stand alone: their sums come at the end.
	_ = run("SET session_replication_role = replica")
	_ = run(fmt.Sprintf(seedEntries, lines-l.lines, l.lines+1, l.tour()), seedDays, seedProviders)

	for _, definition := range indexes {
		_ = run(definition)
	}

	_ = run("SELECT rebuild_reports()")
	_ = run("VACUUM ANALYZE financial_records")
	_ = run("VACUUM ANALYZE report_days_folded, report_texts_folded, report_deltas, report_states_folded, record_texts")
	_ = run("CHECKPOINT")
	_ = run("SET session_replication_role = origin")

	if err == nil {
		l.lines = lines
	}

	return err
}

// secondaryIndexes are the indexes of financial_records that no constraint needs, with what makes them.
func secondaryIndexes(ctx context.Context, conn *sql.Conn) (map[string]string, error) {
	rows, err := conn.QueryContext(ctx, `
		SELECT i.indexname, i.indexdef FROM pg_indexes AS i
		WHERE i.tablename = 'financial_records'
		  AND i.indexname NOT IN (SELECT conname FROM pg_constraint WHERE conrelid = 'financial_records'::regclass)`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	all := map[string]string{}

	for rows.Next() {
		var name, definition string
		if err := rows.Scan(&name, &definition); err != nil {
			return nil, err
		}

		all[name] = definition
	}

	return all, rows.Err()
}
