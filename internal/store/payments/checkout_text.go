package payments

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// CheckoutText names what a transaction pays for on the gateway's page: the trip, and the booking's number.
func (s *Store) CheckoutText(ctx context.Context, t *models.PaymentTransaction) (string, error) {
	ctx = db.Prepared(ctx)

	if t.BookingID == nil {
		return tripTitle(ctx, s.db, t)
	}

	var title, number string

	err := s.db.NewSelect().TableExpr("bookings AS bk").Join("JOIN trips AS t ON t.id = bk.trip_id").Column("t.title", "bk.booking_number").
		Where("bk.id = ?", *t.BookingID).Scan(ctx, &title, &number)
	if err != nil {
		return "", fmt.Errorf("read what is paid for: %w", err)
	}

	return title + " (" + number + ")", nil
}

// Payer is the name and the email address of who pays: the booking's contact, or the account that advertises. Not for logs.
func (s *Store) Payer(ctx context.Context, t *models.PaymentTransaction) (name, email string, err error) {
	q := s.db.NewSelect().TableExpr("users").ColumnExpr("name, email").Where("id = ?", t.UserID)
	if t.BookingID != nil {
		q = s.db.NewSelect().TableExpr("bookings").ColumnExpr("contact_name, contact_email").Where("id = ?", *t.BookingID)
	}

	if err := q.Scan(ctx, &name, &email); err != nil {
		return "", "", fmt.Errorf("read who pays: %w", err)
	}

	return name, email, nil
}

// tripTitle names what a transaction pays for, for ledger entries.
func tripTitle(ctx context.Context, db bun.IDB, t *models.PaymentTransaction) (string, error) {
	var title string

	q := db.NewSelect().TableExpr("trips AS t").Column("t.title")
	if t.BookingID != nil {
		q = q.Join("JOIN bookings AS bk ON bk.trip_id = t.id").Where("bk.id = ?", *t.BookingID)
	} else {
		q = q.Join("JOIN ad_campaigns AS ac ON ac.trip_id = t.id").Where("ac.id = ?", *t.AdCampaignID)
	}

	if err := q.Scan(ctx, &title); err != nil {
		return "", fmt.Errorf("read trip title: %w", err)
	}

	return title, nil
}
