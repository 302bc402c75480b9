package db_test

import (
	"database/sql"
	"io/fs"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/storetest"
	"rihla/migrations"
	"rihla/models"
)

// before migrates a schema of its own up to a migration, which it leaves out.
func before(t *testing.T, migration string) (db *sql.DB, last string) {
	t.Helper()

	db, err := sql.Open("pgx", storetest.Database(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1) // the search path is the connection's

	execute(t, db, "CREATE SCHEMA older; SET search_path = older, public")

	files, err := fs.Glob(migrations.FS, "*.up.sql")
	require.NoError(t, err)

	for _, name := range files {
		content, err := fs.ReadFile(migrations.FS, name)
		require.NoError(t, err)

		if name[:4] == migration {
			return db, string(content)
		}

		for part := range strings.SplitSeq(string(content), "--bun:split") { // each is a transaction
			execute(t, db, part)
		}
	}

	require.FailNow(t, "there is no such migration", migration)

	return nil, ""
}

func execute(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()

	_, err := db.ExecContext(t.Context(), statement, args...)
	require.NoError(t, err)
}

// Two buses of one company with plates that differ in case and spaces alone are kept, and told apart.
func TestMigrationTellsEqualPlatesApart(t *testing.T) {
	t.Parallel()
	db, last := before(t, "0017")

	execute(t, db, "INSERT INTO providers (id, name, email, phone, commission_rate) SELECT gen_random_uuid(), 'Tours ' || n, 'tours@rihla.test', '+966500000001', 0.1 FROM generate_series(1, 2) AS n")
	execute(t, db, `INSERT INTO buses (id, provider_id, plate_number, model, capacity, driver_name, status, created_at)
		SELECT gen_random_uuid(), p.id, v.plate, 'Coach', 40, 'Driver', 'ACTIVE', now() + v.n * interval '1 minute'
		FROM providers AS p, (VALUES (1, 'ABC 1234'), (2, 'abc1234'), (3, 'XYZ 9'), (4, 'ABC  1234')) AS v (n, plate)`)
	execute(t, db, last)

	rows, err := db.QueryContext(t.Context(), `SELECT replace(plate_number, right(id::text, 6), 'id') FROM buses
		WHERE provider_id = (SELECT id FROM providers WHERE name = 'Tours 1') ORDER BY created_at`)
	require.NoError(t, err)

	defer rows.Close()

	var plates []string

	for rows.Next() {
		var plate string
		require.NoError(t, rows.Scan(&plate))
		plates = append(plates, plate)
	}

	require.NoError(t, rows.Err())
	require.Equal(t, []string{"ABC 1234", "abc1234 (id)", "XYZ 9", "ABC  1234 (id)"}, plates)
}

// Earlier bookings get numbers of their own, with check characters, and are found.
func TestMigrationNumbersBookings(t *testing.T) {
	t.Parallel()
	db, last := before(t, "0017")

	execute(t, db, "INSERT INTO providers (id, name, email, phone, commission_rate) VALUES (gen_random_uuid(), 'Tours', 'tours@rihla.test', '+966500000001', 0.1)")
	execute(t, db, "INSERT INTO users (id, name, email, role, password_hash) VALUES (gen_random_uuid(), 'User', 'user@rihla.test', 'END_USER', 'x')")
	execute(t, db, `INSERT INTO buses (id, provider_id, plate_number, model, capacity, driver_name, status)
		SELECT gen_random_uuid(), id, 'ABC 1', 'Coach', 40, 'Driver', 'ACTIVE' FROM providers`)
	execute(t, db, `INSERT INTO trips (id, provider_id, type, title, origin, destination, departure_at, return_at, capacity, price_per_seat, bus_id)
		SELECT gen_random_uuid(), provider_id, 'UMRAH', 'Trip', 'Riyadh', 'Makkah', now() + interval '9 days', now() + interval '10 days', 40, 10, id FROM buses`)
	execute(t, db, `INSERT INTO bookings (id, trip_id, provider_id, user_id, seats, hold_until, amount, vat_rate, vat_amount, passengers, contact_name,
			contact_email, contact_phone, status, seats_held)
		SELECT gen_random_uuid(), t.id, t.provider_id, u.id, 1, now(), 115, 0.15, 15, '[{"name": "Passenger"}]', 'Contact', 'contact@rihla.test',
			'+966500000002', 'PAYMENT_FAILED', false
		FROM trips AS t, users AS u, generate_series(1, 500)`)
	execute(t, db, last)

	rows, err := db.QueryContext(t.Context(), `SELECT b.booking_number FROM bookings AS b JOIN booking_texts AS w ON w.booking_id = b.id
		WHERE w.words LIKE '%' || lower(b.booking_number) || '%' AND w.words LIKE '%966500000002%'`)
	require.NoError(t, err)

	defer rows.Close()

	seen := map[string]bool{}

	for rows.Next() {
		var number string
		require.NoError(t, rows.Scan(&number))

		read, ok := models.ParseBookingNumber(number)
		require.True(t, ok, number)
		require.Equal(t, number, read)

		seen[number] = true
	}

	require.NoError(t, rows.Err())
	require.Len(t, seen, 500)
}
