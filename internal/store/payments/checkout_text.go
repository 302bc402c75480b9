package payments

import (
	"context"
	"fmt"

	"rihla/internal/store/db"
	"rihla/models"
)

// Purchase is what a transaction pays for, as the page shows it on which that is done.
func (s *Store) Purchase(ctx context.Context, t *models.PaymentTransaction) (models.Purchase, error) {
	ctx = db.Prepared(ctx)

	var row struct {
		Booking  models.Booking    `bun:"embed:bk_"`
		Campaign models.AdCampaign `bun:"embed:ac_"`
		Trip     models.Trip       `bun:"embed:t_"`
	}

	q := s.db.NewSelect().ColumnExpr("t.title AS t_title, t.departure_at AS t_departure_at, t.return_at AS t_return_at").
		ColumnExpr("p.name AS t_provider_name")
	if t.BookingID != nil {
		q = q.TableExpr("bookings AS bk").Join("JOIN trips AS t ON t.id = bk.trip_id").Join("JOIN providers AS p ON p.id = bk.provider_id").
			ColumnExpr("bk.booking_number AS bk_booking_number, bk.seats AS bk_seats, bk.locale AS bk_locale").
			ColumnExpr("bk.booked_schedule AS bk_booked_schedule").Where("bk.id = ?", *t.BookingID)
	} else {
		q = q.TableExpr("ad_campaigns AS ac").Join("JOIN trips AS t ON t.id = ac.trip_id").Join("JOIN providers AS p ON p.id = ac.provider_id").
			ColumnExpr("ac.title AS ac_title, ac.starts_on AS ac_starts_on, ac.ends_on AS ac_ends_on").Where("ac.id = ?", *t.AdCampaignID)
	}

	if err := q.Scan(ctx, &row); err != nil {
		return models.Purchase{}, fmt.Errorf("read what is paid for: %w", err)
	}

	if t.BookingID == nil {
		return campaignPurchase(&row.Campaign, &row.Trip, t), nil
	}

	return s.bookingPurchase(&row.Booking, &row.Trip, t), nil
}

func (s *Store) bookingPurchase(b *models.Booking, trip *models.Trip, t *models.PaymentTransaction) models.Purchase {
	return models.Purchase{
		Title: trip.Title, Number: b.Number, Company: trip.ProviderName, Locale: b.Locale, VAT: t.VATAmount, Currency: t.Currency,
		Departure: trip.DepartureAt, Return: trip.ReturnAt, Seats: b.Seats, Policy: b.CancellationPolicy(s.policies.Cancellation),
	}
}

// campaignPurchase is in Arabic, as the messages about campaigns are.
func campaignPurchase(c *models.AdCampaign, trip *models.Trip, t *models.PaymentTransaction) models.Purchase {
	return models.Purchase{
		Title: c.Title, Company: trip.ProviderName, Locale: models.LocaleArabic, VAT: t.VATAmount, Currency: t.Currency,
		Trip: trip.Title, StartsOn: c.StartsOn, EndsOn: c.EndsOn,
	}
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
