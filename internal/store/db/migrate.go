package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/uptrace/bun/migrate"

	"rihla/migrations"
	"rihla/models"
)

// migrationLock is the advisory lock that lets one process migrate at a time. It belongs to a session, so that
// a process that dies while it migrates leaves no lock behind.
const migrationLock = 7_281_946_001

// migrationPause is between two tries to get it.
const migrationPause = 100 * time.Millisecond

// Migrate applies the migrations that are missing, in order, and returns their names.
func (s *DB) Migrate(ctx context.Context) (applied []string, err error) {
	known := migrate.NewMigrations()
	if err := known.Discover(migrations.FS); err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}

	conn, err := s.Raw.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()

	if err := lockMigrations(ctx, conn); err != nil {
		return nil, fmt.Errorf("lock migrations: %w", err)
	}

	defer func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("SELECT pg_advisory_unlock(%d)", migrationLock))
	}()

	m := migrate.NewMigrator(s.DB, known, migrate.WithMarkAppliedOnSuccess(true))
	if err := m.Init(ctx); err != nil {
		return nil, fmt.Errorf("prepare migrations: %w", err)
	}

	group, err := m.Migrate(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}

	for _, one := range group.Migrations {
		applied = append(applied, one.String())
	}

	return applied, nil
}

// lockMigrations waits for the lock by trying again and again. A statement that waited for it would be one that an index which is made
// beside other work (CREATE INDEX CONCURRENTLY) waits for in turn, in the process that has the lock.
func lockMigrations(ctx context.Context, conn *sql.Conn) error {
	for {
		var ours bool

		err := conn.QueryRowContext(ctx, fmt.Sprintf("SELECT pg_try_advisory_lock(%d)", migrationLock)).Scan(&ours)
		if err != nil || ours {
			return err
		}

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(migrationPause):
		}
	}
}

// newestMigration is the name of the last migration that this version brings.
var newestMigration = sync.OnceValues(func() (string, error) {
	known := migrate.NewMigrations()
	if err := known.Discover(migrations.FS); err != nil {
		return "", fmt.Errorf("read migrations: %w", err)
	}

	all := known.Sorted()

	return all[len(all)-1].Name, nil
})

// Ready reports whether the database answers and has the schema that this version needs; a newer one is good, too. Error:
// SERVICE_UNAVAILABLE when migrations are missing.
func (s *DB) Ready(ctx context.Context) error {
	newest, err := newestMigration()
	if err != nil {
		return err
	}

	var there, applied bool
	// The table is not named in the second query before it is there: PostgreSQL would refuse the whole of it.
	if err := s.NewRaw("SELECT to_regclass('bun_migrations') IS NOT NULL").Scan(ctx, &there); err != nil {
		return fmt.Errorf("database does not answer: %w", err)
	}

	if there {
		if err := s.NewRaw("SELECT EXISTS (SELECT FROM bun_migrations WHERE name = ?)", newest).Scan(ctx, &applied); err != nil {
			return fmt.Errorf("look for migration %s: %w", newest, err)
		}
	}

	if !applied {
		return models.NewError(models.CodeServiceUnavailable, "operator.migration_missing", "version", newest)
	}

	return nil
}

// MigrationsHash changes whenever a migration does: databases made from the same migrations share it.
func MigrationsHash() (string, error) {
	sum := sha256.New()

	err := fs.WalkDir(migrations.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}

		body, err := fs.ReadFile(migrations.FS, path)
		if err != nil {
			return err
		}

		fmt.Fprintf(sum, "%s %d\n", path, len(body))
		sum.Write(body)

		return nil
	})
	if err != nil {
		return "", fmt.Errorf("hash migrations: %w", err)
	}

	return hex.EncodeToString(sum.Sum(nil)), nil
}
