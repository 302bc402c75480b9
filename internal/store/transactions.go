package store

import (
	"context"

	"github.com/google/uuid"

	"rihla/models"
)

// TransactionFilter narrows the list of payment transactions; zero fields do not.
type TransactionFilter struct {
	Status       models.TransactionStatus
	Provider     models.PaymentProvider // the gateway
	Method       models.PaymentMethod
	BookingID    uuid.UUID
	AdCampaignID uuid.UUID
	Reference    string      // the gateway's, exactly
	Search       string      // what ListBookings finds their bookings by, and the same about campaigns
	Days         models.Days // of creation
	Page         Page
}

var transactionOrder = order{
	columns:  map[string]string{"created_at": "pt.created_at", "amount": "pt.amount"},
	id:       "pt.id",
	fallback: Sort{Field: "created_at", Desc: true},
}

// ListTransactions lists payment attempts and the transactions of refunds, newest first (contract §5).
// Errors: VALIDATION_ERROR on sort, and on search for a booking number with a wrong check character.
func (s *Store) ListTransactions(ctx context.Context, f TransactionFilter) (Listed[models.PaymentTransaction], error) {
	q := s.db.NewSelect()
	q = matching(q, "pt.status", f.Status)
	q = matching(q, "pt.gateway", f.Provider)
	q = matching(q, "pt.payment_method", f.Method)
	q = matching(q, "pt.booking_id", f.BookingID)
	q = matching(q, "pt.ad_campaign_id", f.AdCampaignID)
	q = matching(q, "pt.reference", f.Reference)
	q = during(q, "pt.created_at", f.Days)

	if f.Search != "" {
		w, err := parseSearch(f.Search)
		if err != nil {
			return Listed[models.PaymentTransaction]{}, err
		}

		q = q.Where("pt.id IN (?)", w.transactions(s.db))
	}

	list, err := listed[models.PaymentTransaction](ctx, q, f.Page, transactionOrder)
	if err != nil {
		return list, err
	}

	return list, numberTransactions(ctx, s.db, pointers(list.Items)...)
}

// TransactionByID finds a payment attempt or the transaction of a refund. Error: NOT_FOUND.
func (s *Store) TransactionByID(ctx context.Context, id uuid.UUID) (models.PaymentTransaction, error) {
	var t models.PaymentTransaction

	if err := s.db.NewSelect().Model(&t).Where("pt.id = ?", id).Scan(ctx); err != nil {
		return t, found(err)
	}

	return t, numberTransactions(ctx, s.db, &t)
}
