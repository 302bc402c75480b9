package payments

import (
	"context"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

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
	rows := func() *bun.SelectQuery { return f.narrow(s.db.NewSelect().Model((*models.PaymentTransaction)(nil))) }
	by := db.ListOptions{Counts: &s.db.Counts, Count: rows(), Whole: func(ids *bun.SelectQuery) *bun.SelectQuery {
		return s.db.NewSelect().Where("pt.id IN (?)", ids)
	}}

	var (
		list db.Listed[models.PaymentTransaction]
		err  error
	)

	if f.Search == "" {
		list, err = db.ListWith[models.PaymentTransaction](ctx, f.narrow(s.db.NewSelect()), f.Page, transactionOrder, by)
	} else {
		list, err = s.searchTransactions(ctx, f, rows, by)
	}

	if err != nil {
		return list, err
	}

	return list, db.NumberTransactions(ctx, s.db, db.Pointers(list.Items)...)
}

func (s *Store) searchTransactions(
	ctx context.Context, f TransactionFilter, rows func() *bun.SelectQuery, by db.ListOptions,
) (db.Listed[models.PaymentTransaction], error) {
	w, err := bookings.ParseSearch(f.Search)
	if err != nil {
		return db.Listed[models.PaymentTransaction]{}, err
	}

	return bookings.ListFound[models.PaymentTransaction](ctx, s.db, w, bookings.Searched{
		Rows: rows, Table: "pt", ID: "pt.id", Booking: "pt.booking_id", Others: w.OtherTransactions(s.db.DB),
	}, f.Page, transactionOrder, by)
}

// narrow is the filter without the search.
func (f *TransactionFilter) narrow(q *bun.SelectQuery) *bun.SelectQuery {
	q = db.WhereEqual(q, "pt.status", f.Status)
	q = db.WhereEqual(q, "pt.gateway", f.Gateway)
	q = db.WhereEqual(q, "pt.payment_method", f.Method)
	q = db.WhereEqual(q, "pt.booking_id", f.BookingID)
	q = db.WhereEqual(q, "pt.ad_campaign_id", f.AdCampaignID)
	q = db.WhereEqual(q, "pt.reference", f.Reference)

	return db.WhereDuring(q, "pt.created_at", f.Days)
}

// TransactionByID finds a payment attempt or the transaction of a refund. Error: NOT_FOUND.
func (s *Store) TransactionByID(ctx context.Context, id uuid.UUID) (models.PaymentTransaction, error) {
	var t models.PaymentTransaction

	if err := s.db.NewSelect().Model(&t).Where("pt.id = ?", id).Scan(ctx); err != nil {
		return t, db.NotFound(err)
	}

	return t, db.NumberTransactions(ctx, s.db, &t)
}
