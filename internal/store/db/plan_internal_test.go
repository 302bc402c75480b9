package db

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"rihla/internal/testkit"
	"rihla/migrations"
)

// asOf opens a database whose newest migration is the given one, as far as bun knows.
func asOf(t *testing.T, newest string) *DB {
	t.Helper()

	raw, err := sql.Open("pgx", testkit.Postgres(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = raw.Close() })

	s := &DB{DB: bun.NewDB(raw, pgdialect.New()), Raw: raw}

	if newest != "" {
		_, err := s.Migrate(t.Context())
		require.NoError(t, err)

		_, err = raw.ExecContext(t.Context(), "DELETE FROM bun_migrations WHERE name > $1", newest)
		require.NoError(t, err)
	}

	return s
}

func TestPlanOfAnEmptyDatabase(t *testing.T) {
	t.Parallel()

	p, err := asOf(t, "").Plan(t.Context())
	require.NoError(t, err)
	require.Nil(t, p.From)
	require.Greater(t, len(p.Steps), 80)
	require.Empty(t, p.Steps[0].Effects)
	require.Empty(t, p.NoReturn)
}

func TestPlanOfAnUpgrade(t *testing.T) {
	t.Parallel()
	s := asOf(t, "0005")

	for _, statement := range []string{
		`INSERT INTO providers (id, name, email, phone, commission_rate)
			SELECT gen_random_uuid(), 'Provider', n || '@rihla.test', '0500000000', 0.1 FROM generate_series(1, 500) AS n`, "ANALYZE providers",
	} {
		_, err := s.Raw.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}

	p, err := s.Plan(t.Context())
	require.NoError(t, err)
	require.Equal(t, "1.0.0", p.From.Version)
	require.Equal(t, "1.1.0", p.NoReturn[0].Release.Version)
	require.False(t, p.NoReturn[0].Passed)

	var seen bool

	for _, step := range p.Steps {
		require.Greater(t, step.Name, "0005")

		for _, e := range step.Effects {
			if e.Migration == "0063" && e.Table == "providers" {
				seen = true

				require.Equal(t, PlanEffect{
					migrations.Effect{Migration: "0063", Table: "providers", Lock: "RowExclusiveLock", Work: "read"}, 500, 500 * perRow["read"],
				}, e)
			}
		}
	}

	require.True(t, seen)

	var still int

	require.NoError(t, s.NewRaw("SELECT count(*) FROM bun_migrations WHERE name > '0005'").Scan(t.Context(), &still))
	require.Zero(t, still, "nothing was done")
}

// What the newest release cannot begin with is refused before anything is done, unless it has no account yet.
func TestPlanOfTooOldADatabase(t *testing.T) {
	t.Parallel()
	s := asOf(t, "0005")
	all := []migrations.Release{{Version: "1.0.0"}, {Version: "1.1.0"}, {Version: "1.2.0", From: "1.1.0"}}
	p := Plan{From: &all[0], To: all[2]}

	require.NoError(t, s.canBegin(t.Context(), p, all))

	_, err := s.Raw.ExecContext(t.Context(), `INSERT INTO users (id, name, email, role, password_hash, created_at)
		VALUES (gen_random_uuid(), 'User', 'user@rihla.test', 'END_USER', 'x', $1)`, time.Now())
	require.NoError(t, err)

	err = s.canBegin(t.Context(), p, all)
	require.ErrorIs(t, err, ErrTooOld)
	require.ErrorContains(t, err, "migrate with 1.1.0 first")

	p.From = &all[1]
	require.NoError(t, s.canBegin(t.Context(), p, all))
}

// The point of no return of a release is asked about once its schema is there: before that, what it asks about may be missing.
func TestPlanOfThePointOfNoReturn(t *testing.T) {
	t.Parallel()
	s := asOf(t, "0005")
	all := []migrations.Release{{Version: "1.0.0"}, {Version: "1.1.0"}}
	all[0].NoReturn.When, all[0].NoReturn.Passed = "there is an account", "SELECT EXISTS (SELECT FROM users)"
	all[1].NoReturn.When, all[1].NoReturn.Passed = "a period is closed", "SELECT EXISTS (SELECT FROM what_is_not_there_yet)"

	for _, passed := range []bool{false, true} {
		p := Plan{From: &all[0], To: all[1]}
		require.NoError(t, s.planReturn(t.Context(), &p, all))
		require.Equal(t, []PointOfNoReturn{{all[0], passed}, {all[1], false}}, p.NoReturn)

		_, err := s.Raw.ExecContext(t.Context(), `INSERT INTO users (id, name, email, role, password_hash)
			VALUES (gen_random_uuid(), 'User', gen_random_uuid() || '@rihla.test', 'END_USER', 'x')`)
		require.NoError(t, err)
	}
}

func TestPlanOfTheNewestSchema(t *testing.T) {
	t.Parallel()

	p, err := asOf(t, "9999").Plan(t.Context())
	require.NoError(t, err)
	require.Equal(t, p.To, *p.From)
	require.Empty(t, p.Steps)
}

// BenchmarkMigrationWork is where perMillion comes from: what takes as long as a table is large, on a million rows as wide as payments.
func BenchmarkMigrationWork(b *testing.B) {
	raw, err := sql.Open("pgx", testkit.Postgres(b))
	require.NoError(b, err)
	b.Cleanup(func() { _ = raw.Close() })

	execute := func(statement string) {
		_, err := raw.ExecContext(b.Context(), statement)
		require.NoError(b, err)
	}
	execute(`CREATE TABLE wide AS SELECT gen_random_uuid() AS id, gen_random_uuid() AS booking_id, n % 1000 * 1.15 AS amount, now() AS created_at,
		repeat('x', 200) AS words FROM generate_series(1, 1000000) AS n`)
	execute("ALTER TABLE wide ADD CONSTRAINT amounts CHECK (amount >= 0) NOT VALID")

	for _, work := range []struct{ name, statement, undo string }{
		{"read", "ALTER TABLE wide VALIDATE CONSTRAINT amounts", "ALTER TABLE wide DROP CONSTRAINT amounts, ADD CONSTRAINT amounts CHECK (amount >= 0) NOT VALID"},
		{"index", "CREATE INDEX wide_booking ON wide (booking_id)", "DROP INDEX wide_booking"},
		{"rewrite", "ALTER TABLE wide ALTER COLUMN words TYPE varchar(250)", "ALTER TABLE wide ALTER COLUMN words TYPE text"},
	} {
		b.Run(work.name, func(b *testing.B) {
			for range b.N {
				execute(work.statement)
				b.StopTimer()
				execute(work.undo)
				b.StartTimer()
			}
		})
	}
}
