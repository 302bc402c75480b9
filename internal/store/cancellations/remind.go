package cancellations

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/outbox"
	"rihla/models"
)

// Remind queues a mail to each FINANCE_ADMIN about a request that is undecided; once per request and person. The mail names the booking
// and the amount, and no person.
func (s *Store) Remind(ctx context.Context, id uuid.UUID) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		r, err := requestByID(ctx, tx, id)
		if err != nil || r.Status != models.CancellationRequested {
			return err
		}

		var staff []models.User

		err = tx.NewSelect().Model(&staff).Where("u.role = ?", models.RoleFinanceAdmin).Where(db.AccountIsLive).OrderExpr("u.id").Scan(ctx)
		if err != nil {
			return fmt.Errorf("list finance staff: %w", err)
		}

		rows := make([]models.Notification, 0, len(staff))
		for i := range staff {
			rows = append(rows, reminder(&staff[i], &r))
		}

		_, err = outbox.InsertMessages(ctx, tx, rows)

		return err
	})
}

func reminder(u *models.User, r *models.CancellationRequest) models.Notification {
	return models.Notification{
		ID:     models.AccountNoticeID(u.ID, models.NotifyCancellationWaiting, r.RequestedAt),
		UserID: &u.ID, Kind: models.NotifyCancellationWaiting, Channel: models.NotifyEmail, Locale: u.Locale, Recipient: u.Email,
		Status: models.NotificationPending,
		Data: map[string]string{
			"booking_id": r.BookingID.String(), "booking_number": r.BookingNumber, "amount": r.RefundAmount.String(), "currency": models.Currency,
		},
	}
}
