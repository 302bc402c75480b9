package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"rihla/internal/store/outbox"
	"rihla/models"
)

// notifyPaid queues an email and an SMS about the payment to the booking's contact, and mails to the company.
func (st *settlement) notifyPaid() {
	facts := paidFacts(&st.booking, &st.trip, &st.t)

	booked := outbox.CompanyNews{
		Message: models.CompanyBooked, Transaction: st.t.ID, Data: outbox.CompanyData(&st.booking, &st.trip, st.booking.Seats),
	}
	booked.Data["amount"], booked.Data["currency"] = st.t.Amount.String(), st.booking.Currency

	st.queue(append(outbox.BookingMessages(&st.booking, models.NotifyPaymentSucceeded, st.t.ID, facts), booked.For(st.contacts)...))
}

func (st *settlement) queue(rows []models.Notification) {
	if len(rows) > 0 {
		st.writes.Insert("notifications", outbox.Insertion(st.store.db, rows), &st.out.Queued)
	}
}

// notifyOfFailure queues a message about a booking that was not paid and is given up with its attempt t, because its time to pay is over
// or for another reason, and counts the messages (rules: notifications.who).
func notifyOfFailure(ctx context.Context, tx bun.Tx, b *models.Booking, t *models.PaymentTransaction, expired bool) (int, error) {
	paid, err := tx.NewSelect().Model((*models.PaymentTransaction)(nil)).
		Where("pt.booking_id = ?", b.ID).Where("(pt.captured_at IS NOT NULL OR pt.suspense_at IS NOT NULL)").Exists(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for money: %w", err)
	}

	to := *b
	if !paid {
		if to, err = unpaidContact(ctx, tx, b); err != nil {
			return 0, err
		}
	}

	var trip models.Trip
	if err := tx.NewSelect().Model(&trip).Column("title", "departure_at").Where("id = ?", b.TripID).Scan(ctx); err != nil {
		return 0, fmt.Errorf("read trip: %w", err)
	}

	facts := outbox.BookingFacts(&to, &trip, t.Amount)
	if expired {
		facts["expired"] = "true"
	}

	if !paid {
		facts["unpaid"] = "true"
	}

	return outbox.QueueForBooking(ctx, tx, &to, models.NotifyPaymentFailed, t.ID, facts)
}

// unpaidContact is the booking with the addresses at which it may be written about while nothing was paid. The contact may be a stranger
// who has not asked for anything: it is written to only where it was sent the link to pay. Else it is the account's own address, once that
// is verified, or none.
func unpaidContact(ctx context.Context, tx bun.Tx, b *models.Booking) (models.Booking, error) {
	to := *b

	sent, err := tx.NewSelect().TableExpr("checkout_sendings").Where("booking_id = ?", b.ID).Exists(ctx)
	if err != nil || sent {
		return to, err
	}

	to.ContactEmail, to.ContactPhone = "", ""

	err = tx.NewSelect().Model((*models.User)(nil)).Column("email").Where("id = ?", b.UserID).
		Where("email_verified_at IS NOT NULL").Where("deleted_at IS NULL").Scan(ctx, &to.ContactEmail)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return to, fmt.Errorf("read the account's address: %w", err)
	}

	return to, nil
}

// notifyCampaign queues an email and an SMS to the company that advertises.
func (st *settlement) notifyCampaign(ctx context.Context, c *models.AdCampaign) error {
	var p models.Provider
	if err := st.tx.NewSelect().Model(&p).Where("id = ?", c.ProviderID).Scan(ctx); err != nil {
		return fmt.Errorf("read provider: %w", err)
	}

	facts := map[string]string{
		"name": p.Name, "campaign_title": c.Title, "trip_title": st.trip.Title,
		"amount": st.t.Amount.String(), "currency": st.t.Currency, "vat_amount": st.t.VATAmount.String(),
		"starts_on": c.StartsOn.String(), "ends_on": c.EndsOn.String(),
	}
	nameReference(facts, &st.t)

	st.queue(outbox.NewMessages(models.NotifyCampaignPaid, st.t.ID, "", models.LocaleArabic, p.Email, p.Phone, facts))

	return nil
}
