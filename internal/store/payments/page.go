package payments

import (
	"context"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/db"
	"rihla/models"
)

// pageFor is how long after the end of the time to pay a page of ours says what has become of the attempt.
const pageFor = 24 * time.Hour

// PayPage reads the attempt that is paid on the page of ours with the id, with its Purchase. Error: NOT_FOUND, also when its time to pay
// is over for more than a day.
func (s *Store) PayPage(ctx context.Context, id uuid.UUID, now time.Time) (t models.PaymentTransaction, err error) {
	err = s.db.NewSelect().Model(&t).Where("page_data IS NOT NULL").
		Where("page_data ->> 'page' = ?", id.String()).Where("expires_at > ?", now.Add(-pageFor)).Scan(ctx)
	if err != nil {
		return t, db.NotFound(err)
	}

	t.Purchase, err = s.Purchase(ctx, &t)

	return t, err
}
