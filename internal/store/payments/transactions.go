package payments

import (
	"context"

	"github.com/google/uuid"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/models"
)

// TransactionFilter narrows the list of payment transactions; zero fields do not.
type TransactionFilter struct {
	Status       models.TransactionStatus
	Gateway      models.Gateway // the gateway
	Method       models.PaymentMethod
	BookingID    uuid.UUID
	AdCampaignID uuid.UUID
	Reference    string      // the gateway's, exactly
	Search       string      // what ListBookings finds their bookings by, and the same about campaigns
	Days         models.Days // of creation
	Page         db.Page
}

var transactionOrder = db.Order{
	Columns:  map[string]string{"created_at": "pt.created_at", "amount": "pt.amount"},
	ID:       "pt.id",
	Fallback: db.Sort{Field: "created_at", Desc: true},
}

// ListTransactions lists payment attempts and the transactions of refunds, newest first.
// Errors: VALIDATION_ERROR on sort, and on search for a booking number with a wrong check character.
func (s *Store) ListTransactions(ctx context.Context, f TransactionFilter) (db.Listed[models.PaymentTransaction], error) {
	q := s.db.NewSelect()
	q = db.WhereEqual(q, "pt.status", f.Status)
	q = db.WhereEqual(q, "pt.gateway", f.Gateway)
	q = db.WhereEqual(q, "pt.payment_method", f.Method)
	q = db.WhereEqual(q, "pt.booking_id", f.BookingID)
	q = db.WhereEqual(q, "pt.ad_campaign_id", f.AdCampaignID)
	q = db.WhereEqual(q, "pt.reference", f.Reference)
	q = db.WhereDuring(q, "pt.created_at", f.Days)

	if f.Search != "" {
		w, err := bookings.ParseSearch(f.Search)
		if err != nil {
			return db.Listed[models.PaymentTransaction]{}, err
		}

		q = q.Where("pt.id IN (?)", w.Transactions(s.db.DB))
	}

	list, err := db.List[models.PaymentTransaction](ctx, q, f.Page, transactionOrder)
	if err != nil {
		return list, err
	}

	return list, db.NumberTransactions(ctx, s.db, db.Pointers(list.Items)...)
}

// TransactionByID finds a payment attempt or the transaction of a refund. Error: NOT_FOUND.
func (s *Store) TransactionByID(ctx context.Context, id uuid.UUID) (models.PaymentTransaction, error) {
	var t models.PaymentTransaction

	if err := s.db.NewSelect().Model(&t).Where("pt.id = ?", id).Scan(ctx); err != nil {
		return t, db.NotFound(err)
	}

	return t, db.NumberTransactions(ctx, s.db, &t)
}
