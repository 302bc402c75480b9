package accounts

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// PeopleRows are rows about people that a request may read. They are counted before they are read: of many requests at once each sees
// those of the others.
type PeopleRows struct {
	// Hour is the one in which they count, and Total all rows of the account in it, these included.
	Hour  time.Time
	Total int
	most  int
}

// ReserveRows counts rows that the account is about to read, most of them. The commit does not wait for the disk: other requests of the
// account wait for this one, and after a crash a count that is too small by some rows does no harm.
func (s *Store) ReserveRows(ctx context.Context, account uuid.UUID, most int) (PeopleRows, error) {
	r := PeopleRows{most: most}

	err := s.db.NewRaw(`WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
		INSERT INTO people_reads AS p (account_id, hour, rows) SELECT ?, date_trunc('hour', now()), ? FROM quick
		ON CONFLICT (account_id, hour) DO UPDATE SET rows = p.rows + excluded.rows RETURNING p.hour, p.rows`, account, most).
		Scan(ctx, &r.Hour, &r.Total)
	if err != nil {
		return r, fmt.Errorf("count people's rows: %w", err)
	}

	return r, nil
}

// ReadRows says how many of the reserved rows were read. The first time that the account has read many in an hour is in the audit log.
func (s *Store) ReadRows(ctx context.Context, by db.Actor, r PeopleRows, operation string, read int) error {
	if read == r.most && r.Total <= models.PeopleNoted {
		return nil
	}

	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var (
			rows  int
			noted bool
		)

		err := tx.NewRaw(`UPDATE people_reads SET rows = greatest(rows + ?, 0) WHERE account_id = ? AND hour = ? RETURNING rows, noted`,
			read-r.most, by.UserID, r.Hour).Scan(ctx, &rows, &noted)
		if err != nil {
			return fmt.Errorf("count people's rows: %w", err)
		}

		if noted || read == 0 || rows <= models.PeopleNoted {
			return nil
		}

		_, err = tx.NewRaw("UPDATE people_reads SET noted = true WHERE account_id = ? AND hour = ?", by.UserID, r.Hour).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note people's rows: %w", err)
		}

		return db.Audit(ctx, tx, by, models.AuditPeopleRead, models.EntityUser, &by.UserID, map[string]any{
			"rows": rows, "hour": r.Hour.UTC(), "operation": operation,
		})
	})
}
