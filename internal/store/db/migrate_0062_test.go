package db_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/storetest"
	"rihla/models"
)

// What was folded before is found as people write it now: when half of the migration is done, after it, and when it is run again.
func TestMigrationFoldsAnew(t *testing.T) {
	t.Parallel()
	conn, last := before(t, "0062")

	execute(t, conn, "INSERT INTO providers (id, name, email, phone, commission_rate) VALUES (gen_random_uuid(), 'Tours', 'tours@rihla.test', '+966500000001', 0.1)")
	execute(t, conn, "INSERT INTO users (id, name, email, role, password_hash) VALUES (gen_random_uuid(), 'User', 'user@rihla.test', 'END_USER', 'x')")
	execute(t, conn, `INSERT INTO buses (id, provider_id, plate_number, model, capacity, driver_name, status)
		SELECT gen_random_uuid(), id, 'ABC 1', 'Coach', 40, 'Driver', 'ACTIVE' FROM providers`)
	execute(t, conn, `INSERT INTO trips (id, provider_id, type, title, origin, destination, departure_at, return_at, capacity, price_per_seat, bus_id)
		SELECT gen_random_uuid(), provider_id, 'UMRAH', 'Trip', 'Riyadh', 'Makkah', now() + interval '9 days', now() + interval '10 days', 40, 10, id FROM buses`)

	book := func(name string) {
		t.Helper()
		execute(t, conn, `INSERT INTO bookings (id, trip_id, provider_id, user_id, seats, hold_until, amount, vat_rate, vat_amount, passengers, contact_name,
				contact_email, contact_phone, status, seats_held)
			SELECT gen_random_uuid(), t.id, t.provider_id, u.id, 1, now(), 115, 0.15, 15, '[{"name": "Passenger"}]', $1,
				'contact@rihla.test', '+966500000002', 'PAYMENT_FAILED', false
			FROM trips AS t, users AS u`, name)
	}
	sell := func(title string) {
		t.Helper()
		execute(t, conn, "SELECT record_text_id('SALE', $1, $1)", title)
	}
	// found counts what a search finds, as every version of the service asks for it.
	found := func(text string) (bookings, texts int) {
		t.Helper()

		require.NoError(t, conn.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM booking_texts WHERE words LIKE '%' || search_fold($1) || '%'),
			(SELECT count(*) FROM record_texts WHERE trip_title_folded LIKE '%' || search_fold($1) || '%' AND details_folded LIKE '%' || search_fold($1) || '%')`,
			text).Scan(&bookings, &texts))

		return bookings, texts
	}

	for _, name := range []string{"عائشة عبد الله", "Ali Ahmed", "هدى"} {
		book(name)
		sell("رحلة " + name)
	}

	bookings, texts := found("عايشة")
	require.Zero(t, bookings+texts, "the older fold does not know it")

	parts := strings.Split(last, "--bun:split")
	half := len(parts) - 2 // the exchange, and the drop behind it

	for round := range 2 {
		for i, part := range parts {
			if i == half && round == 0 { // replicas of the version before write, and find what they found
				book("مؤمن عبد الرحمن")
				sell("رحلة مؤمن")

				for _, text := range []string{"عائشة", "Ahmed", "هدي", "مؤمن"} {
					bookings, texts = found(text)
					require.Equal(t, []int{1, 1}, []int{bookings, texts}, text)
				}
			}

			if i == half && round == 1 {
				sell("رحلة وفاء") // while all of it is run again
			}

			execute(t, conn, part)
		}

		for _, text := range []string{"عايشة", "عائشه", "عبدالله", "عبد الله", "هدى", "مومن", "ALI\u00a0AHMED"} {
			bookings, texts = found(text)
			if text == "عبدالله" || text == "عبد الله" || text == "ALI\u00a0AHMED" {
				require.Equal(t, []int{1, 1}, []int{bookings, texts}, text)
			}

			require.NotZero(t, bookings, text)
			require.NotZero(t, texts, text)
		}

		require.Equal(t, []string{"booking_texts_search", "record_texts_search", "records_payout_reference"}, valid(t, conn))
	}

	_, texts = found("وفا")
	require.Equal(t, 1, texts)
}

// valid are the indexes of searches, by name.
func valid(t *testing.T, conn *sql.DB) (names []string) {
	t.Helper()

	rows, err := conn.QueryContext(t.Context(), `SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
		WHERE i.indrelid IN ('booking_texts'::regclass, 'record_texts'::regclass, 'financial_records'::regclass) AND i.indisvalid
			AND (c.relname LIKE '%search%' OR c.relname LIKE '%reference%') ORDER BY 1`)
	require.NoError(t, err)

	defer rows.Close()

	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}

	require.NoError(t, rows.Err())

	return names
}

// TestSearchesUseTheirIndexes: the function in a search is that of its index.
func TestSearchesUseTheirIndexes(t *testing.T) {
	t.Parallel()
	_, conn := storetest.Open(t, models.DefaultPolicies())
	conn.SetMaxOpenConns(1)
	execute(t, conn, "SET enable_seqscan = off")

	for index, query := range map[string]string{
		"records_payout_reference": "SELECT id FROM financial_records WHERE payout_reference IS NOT NULL AND search_fold(payout_reference) LIKE '%' || search_fold('تحويل') || '%'",
		"booking_texts_search":     "SELECT booking_id FROM booking_texts WHERE words LIKE '%' || search_fold('عائشة') || '%'",
		"record_texts_search":      "SELECT id FROM record_texts WHERE trip_title_folded LIKE search_fold('%رحلة%') OR details_folded LIKE search_fold('%رحلة%')",
	} {
		plan := planOf(t, conn, query)
		require.Contains(t, plan, index, plan)
	}
}

// planOf is how the database would run a query.
func planOf(t *testing.T, conn *sql.DB, query string) string {
	t.Helper()

	rows, err := conn.QueryContext(t.Context(), "EXPLAIN "+query)
	require.NoError(t, err)

	defer rows.Close()

	var plan strings.Builder

	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		plan.WriteString(line + "\n")
	}

	require.NoError(t, rows.Err())

	return plan.String()
}
