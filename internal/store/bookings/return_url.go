package bookings

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/db"
	"rihla/models"
)

// returnFor is how long after the end of an attempt its return address works: a customer comes back at once, and who finds
// the address in a log or in a browser's history later learns nothing.
const returnFor = 24 * time.Hour

// SetReturnURL keeps where the customer goes after the attempt that is opened next, and base, the public address of the API
// through which that goes. It travels through the database and not through the workflow: an app may have put a token into it.
func (s *Store) SetReturnURL(ctx context.Context, a models.Attempt, url, base string) error {
	q := s.db.NewUpdate().Set("return_url = ?", url).Set("return_base = ?", base)
	if a.BookingID != uuid.Nil {
		q = q.Model((*models.Booking)(nil)).Where("id = ?", a.BookingID)
	} else {
		q = q.Model((*models.AdCampaign)(nil)).Where("id = ?", a.CampaignID)
	}

	if _, err := q.Exec(ctx); err != nil {
		return fmt.Errorf("save return address: %w", err)
	}

	return nil
}

// ReturnTo gives an attempt that is being opened its own address of the service. The id is random and not derived: the
// transaction's is in logs and in the gateway's books, and must not open what the app wrote into return_url.
func ReturnTo(t *models.PaymentTransaction, url, base string) {
	t.ReturnURL, t.ReturnBase = url, base

	if url != "" && base != "" {
		id := uuid.New()
		t.ReturnID = &id
	}
}

// PaymentReturn reads the attempt whose customer comes back under id. Error: NOT_FOUND, also when the attempt has ended more
// than a day ago.
func (s *Store) PaymentReturn(ctx context.Context, id uuid.UUID, now time.Time) (models.PaymentTransaction, error) {
	var t models.PaymentTransaction

	err := s.db.NewSelect().Model(&t).
		Column("id", "booking_id", "ad_campaign_id", "status", "return_url", "return_id").
		Where("return_id = ?", id).Where("expires_at > ?", now.Add(-returnFor)).Scan(ctx)

	return t, db.NotFound(err)
}
