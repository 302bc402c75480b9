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

// PayPage is what a page of ours shows of an attempt.
type PayPage struct {
	models.PaymentTransaction

	Title string // what is paid for
}

// PayPage reads the attempt that is paid on the page of ours with the id. Error: NOT_FOUND, also when its time to pay is over for more
// than a day.
func (s *Store) PayPage(ctx context.Context, id uuid.UUID, now time.Time) (p PayPage, err error) {
	err = s.db.NewSelect().Model(&p.PaymentTransaction).Where("page_data IS NOT NULL").
		Where("page_data ->> 'page' = ?", id.String()).Where("expires_at > ?", now.Add(-pageFor)).Scan(ctx)
	if err != nil {
		return PayPage{}, db.NotFound(err)
	}

	p.Title, err = s.CheckoutText(ctx, &p.PaymentTransaction)

	return p, err
}
