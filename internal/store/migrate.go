package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"

	"github.com/uptrace/bun/migrate"

	"rihla/migrations"
)

// migrationLock is the advisory lock that lets one process migrate at a time. It belongs to a session, so that
// a process that dies while it migrates leaves no lock behind.
const migrationLock = 7_281_946_001

// Migrate applies the migrations that are missing, in order, and returns their names.
func (s *Store) Migrate(ctx context.Context) (applied []string, err error) {
	known := migrate.NewMigrations()
	if err := known.Discover(migrations.FS); err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}

	conn, err := s.raw.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()

	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SELECT pg_advisory_lock(%d)", migrationLock)); err != nil {
		return nil, fmt.Errorf("lock migrations: %w", err)
	}

	defer func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("SELECT pg_advisory_unlock(%d)", migrationLock))
	}()

	m := migrate.NewMigrator(s.db, known, migrate.WithMarkAppliedOnSuccess(true))
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
