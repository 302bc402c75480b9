package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun/migrate"

	"rihla/migrations"
)

// Plan is what Migrate would do.
type Plan struct {
	// From is the release whose schema the database has, or the newest whose schema it contains; nil for an empty database. To is this one.
	From *migrations.Release
	To   migrations.Release
	// Steps are the migrations that are missing.
	Steps []PlanStep
	// NoReturn are the points of no return of From and of the releases after it.
	NoReturn []PointOfNoReturn
}

// PlanStep is a migration.
type PlanStep struct {
	Name          string
	InTransaction bool
	Effects       []PlanEffect
}

// PlanEffect is what a step does to a table.
type PlanEffect struct {
	migrations.Effect

	Rows int64         // of the table, estimated by PostgreSQL
	Time time.Duration // estimated for so many rows; 0 for what does not depend on them
}

// PointOfNoReturn is from when on one cannot go back to the release before.
type PointOfNoReturn struct {
	Release migrations.Release
	Passed  bool
}

// perRow is how long the work on a row takes: five times what BenchmarkMigrationWork measured with a table in memory.
var perRow = map[string]time.Duration{"read": 500 * time.Nanosecond, "index": 1500 * time.Nanosecond, "rewrite": 2500 * time.Nanosecond}

// ErrTooOld says that a release between has to be applied first.
var ErrTooOld = errors.New("this version cannot begin with the schema of the database")

// Plan reports what Migrate would do, and changes nothing. Error: ErrTooOld.
func (s *DB) Plan(ctx context.Context) (Plan, error) {
	var p Plan

	all, err := migrations.Releases()
	if err != nil {
		return p, err
	}

	p.To = all[len(all)-1]

	applied, err := s.appliedMigrations(ctx)
	if err != nil {
		return p, err
	}

	for i, r := range all {
		if slices.Contains(applied, r.Migration) {
			p.From = &all[i]
		}
	}

	if err := s.canBegin(ctx, p, all); err != nil {
		return p, err
	}

	if p.Steps, err = s.planSteps(ctx, applied); err != nil || p.From == nil {
		return p, err
	}

	return p, s.planReturn(ctx, &p, all)
}

func (s *DB) appliedMigrations(ctx context.Context) ([]string, error) {
	var there bool
	if err := s.NewRaw("SELECT to_regclass('bun_migrations') IS NOT NULL").Scan(ctx, &there); err != nil || !there {
		return nil, err
	}

	var names []string

	err := s.NewRaw("SELECT name FROM bun_migrations ORDER BY name").Scan(ctx, &names)
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}

	return names, nil
}

// canBegin holds the schema to the oldest that this version takes. A database without an account may have been left half-made.
func (s *DB) canBegin(ctx context.Context, p Plan, all []migrations.Release) error {
	if p.From == nil || indexOf(all, p.From.Version) >= indexOf(all, p.To.From) {
		return nil
	}

	var used bool
	if err := s.NewRaw("SELECT EXISTS (SELECT FROM users)").Scan(ctx, &used); err != nil || !used {
		return err
	}

	return fmt.Errorf("%w: it is of %s, and %s begins with %s or later; migrate with %s first",
		ErrTooOld, p.From.Version, p.To.Version, p.To.From, p.To.From)
}

func indexOf(all []migrations.Release, version string) int {
	return slices.IndexFunc(all, func(r migrations.Release) bool { return r.Version == version })
}

// planSteps lists the migrations that are missing, and what they do to the tables that are there.
func (s *DB) planSteps(ctx context.Context, applied []string) ([]PlanStep, error) {
	known := migrate.NewMigrations()
	if err := known.Discover(migrations.FS); err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}

	rows, err := s.rowsOfTables(ctx)
	if err != nil {
		return nil, err
	}

	var steps []PlanStep

	for _, m := range known.Sorted() {
		if slices.Contains(applied, m.Name) {
			continue
		}

		step := PlanStep{Name: m.String(), InTransaction: migrations.InTransaction(m.Name)}

		for _, e := range migrations.Effects() {
			if n, there := rows[e.Table]; there && e.Migration == m.Name {
				step.Effects = append(step.Effects, PlanEffect{
					Effect: e, Rows: n, Time: perRow[e.Work] * time.Duration(n),
				})
			}
		}

		steps = append(steps, step)
	}

	return steps, nil
}

// rowsOfTables are PostgreSQL's own estimates; a table that was never analysed is counted by its statistics.
func (s *DB) rowsOfTables(ctx context.Context) (map[string]int64, error) {
	var tables []struct {
		Name string
		Rows int64
	}

	err := s.NewRaw(`SELECT c.relname AS name, greatest(c.reltuples::bigint, coalesce(t.n_live_tup, 0), 0) AS rows
		FROM pg_class AS c LEFT JOIN pg_stat_user_tables AS t ON t.relid = c.oid
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'`).Scan(ctx, &tables)
	if err != nil {
		return nil, fmt.Errorf("read the sizes of tables: %w", err)
	}

	out := make(map[string]int64, len(tables))
	for _, t := range tables {
		out[t.Name] = t.Rows
	}

	return out, nil
}

// planReturn asks of each release whether its point of no return has passed. Of one whose schema is not there yet it has not, and what it
// would be asked of may not be there either.
func (s *DB) planReturn(ctx context.Context, p *Plan, all []migrations.Release) error {
	from := indexOf(all, p.From.Version)

	for i := from; i < len(all); i++ {
		if all[i].NoReturn.When == "" {
			continue
		}

		point := PointOfNoReturn{Release: all[i]}
		if i > from {
			p.NoReturn = append(p.NoReturn, point)

			continue
		}

		if err := s.NewRaw(all[i].NoReturn.Passed).Scan(ctx, &point.Passed); err != nil {
			return fmt.Errorf("ask whether one can go back from %s: %w", all[i].Version, err)
		}

		p.NoReturn = append(p.NoReturn, point)
	}

	return nil
}
