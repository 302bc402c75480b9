package accounts

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/db"
	"rihla/models"
)

// ListedUser is a live account, and until when it is locked.
type ListedUser struct {
	models.User `bun:",extend"`

	LockedUntil *time.Time `bun:"locked_until"`
}

// usersAtOnce is how many accounts EachUser reads at a time.
const usersAtOnce = 500

// EachUser hands all live accounts over, oldest first, in parts; role narrows them unless it is empty.
func (s *Store) EachUser(ctx context.Context, role models.Role, now time.Time, do func([]ListedUser) error) error {
	after := uuid.Nil

	for {
		var users []ListedUser

		q := s.db.NewSelect().Model(&users).ColumnExpr("?", db.Columns[models.User](s.db, "u")).ColumnExpr("lt.locked_until").
			Join("LEFT JOIN login_throttles AS lt ON lt.subject = u.id AND lt.locked_until > ?", now).
			Where("u.deleted_at IS NULL").Where("u.id > ?", after).Order("u.id").Limit(usersAtOnce)
		if role != "" {
			q = q.Where("u.role = ?", role)
		}

		if err := q.Scan(ctx); err != nil {
			return fmt.Errorf("list users: %w", err)
		}

		if err := do(users); err != nil || len(users) < usersAtOnce {
			return err
		}

		after = users[len(users)-1].ID
	}
}
