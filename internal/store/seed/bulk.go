package seed

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// bulkFrom is from how many entries on a seed takes indexes and foreign keys away and makes them again at the end, where
// sorting and joining whole tables is far quicker than looking each row up.
const bulkFrom = 50_000

// prepareBulk takes away what makes single rows slow, in the transaction of the load: if that does not come to its end,
// nothing has happened. The index of booking numbers stays: a new number is looked up in it. It returns the statements that bring
// all of it back.
func prepareBulk(ctx context.Context, tx pgx.Tx) (restore []string, err error) {
	names := make([]string, 0, len(seedTables)+1)
	names = append(names, "booking_texts") // written by a trigger of bookings

	for _, t := range seedTables {
		names = append(names, t.name)
	}

	const fragile = `
SELECT format('DROP INDEX %I', i.relname), replace(pg_get_indexdef(i.oid), ' ON ONLY ', ' ON ') -- ONLY: of a table with partitions
FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid
WHERE t.relname = ANY($1) AND t.relnamespace = 'public'::regnamespace AND i.relname <> 'bookings_number'
  AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = x.indexrelid)
UNION ALL
SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname, c.conname),
       format('ALTER TABLE %I ADD CONSTRAINT %I %s', t.relname, c.conname, pg_get_constraintdef(c.oid))
FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = c.conrelid
WHERE c.contype = 'f' AND t.relname = ANY($1) AND t.relnamespace = 'public'::regnamespace`

	rows, err := tx.Query(ctx, fragile, names)
	if err != nil {
		return nil, fmt.Errorf("read indexes: %w", err)
	}

	type change struct{ Drop, Make string }

	changes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[change])
	if err != nil {
		return nil, fmt.Errorf("read indexes: %w", err)
	}

	drop := []string{
		"SET LOCAL maintenance_work_mem = '512MB'",
		"ALTER TABLE financial_records DISABLE TRIGGER USER",
		"ALTER TABLE bookings DISABLE TRIGGER bookings_worded",
	}

	restore = []string{
		`INSERT INTO booking_texts SELECT b.id, booking_words(b) FROM bookings AS b
		WHERE NOT EXISTS (SELECT FROM booking_texts AS t WHERE t.booking_id = b.id)`,
		"ALTER TABLE bookings ENABLE TRIGGER bookings_worded",
	}

	for _, c := range changes {
		drop, restore = append(drop, c.Drop), append(restore, c.Make)
	}

	restore = append(restore, "ALTER TABLE financial_records ENABLE TRIGGER USER", "SELECT rebuild_reports()")

	// Without statistics the planner would take the tables for nearly empty.
	for _, name := range names {
		restore = append(restore, "ANALYZE "+pgx.Identifier{name}.Sanitize())
	}

	return restore, execAll(ctx, tx, drop)
}

func execAll(ctx context.Context, tx pgx.Tx, statements []string) error {
	for _, s := range statements {
		if _, err := tx.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}

	return nil
}
