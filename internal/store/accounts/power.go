package accounts

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// tellOfPower queues a mail to each SUPER_ADMIN about an account that has just got a role which moves money or makes accounts: an account
// that one of them did not expect is noticed by the others.
func tellOfPower(ctx context.Context, tx bun.Tx, u *models.User) error {
	switch u.Role {
	case models.RoleFinanceAdmin, models.RoleAdmin, models.RoleSuperAdmin:
	default:
		return nil
	}

	var supers []models.User

	err := tx.NewSelect().Model(&supers).Where("u.role = ?", models.RoleSuperAdmin).Where(db.AccountIsLive).Where("u.id <> ?", u.ID).
		OrderExpr("u.id").Scan(ctx)
	if err != nil {
		return fmt.Errorf("list super admins: %w", err)
	}

	for i := range supers {
		data := map[string]string{"account": u.Email, "role": string(u.Role)}
		if err := queueNotice(ctx, tx, &supers[i], models.NotifyAdminAdded, data); err != nil {
			return err
		}
	}

	return nil
}
