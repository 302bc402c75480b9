package payments

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/outbox"
	"rihla/models"
)

// SendCheckout asks for the link of a booking's checkout to be sent to the booking's contact.
type SendCheckout struct {
	BookingID uuid.UUID
	// Once keeps the answer to the request.
	Once db.Once[CheckoutSending]
}

// CheckoutSending is a link that was queued.
type CheckoutSending struct {
	Booking  models.Booking
	Attempt  models.PaymentTransaction // that can be paid
	Messages []models.Notification     // by email and by SMS; at least one
	Sent     int                       // how often the booking's links have been sent, with this one
	At       time.Time
}

// Left is how often the booking's link can be sent again.
func (s *CheckoutSending) Left() int { return models.CheckoutSendings - s.Sent }

// NextAt is from when on it can be sent again; nil: never.
func (s *CheckoutSending) NextAt() *time.Time {
	if s.Left() == 0 {
		return nil
	}

	next := s.At.Add(models.CheckoutSendingPause)

	return &next
}

// TooManySendingsError is RATE_LIMITED with the time after which it can be different.
type TooManySendingsError struct {
	Domain *models.Error
	After  time.Duration
}

// Error implements error.
func (e *TooManySendingsError) Error() string { return e.Domain.Error() }

// Unwrap makes it the domain error.
func (e *TooManySendingsError) Unwrap() error { return e.Domain }

// SendCheckout queues the link of a booking's open checkout for its contact. The link itself is in no row of the outbox: it is read when
// the message is sent (CheckoutLink). Errors: NOT_FOUND; BOOKING_NOT_PAYABLE, PAYMENT_IN_SUSPENSE and NO_OPEN_CHECKOUT when nothing can be
// paid; RATE_LIMITED (*TooManySendingsError); IDEMPOTENCY_KEY_IN_PROGRESS.
func (s *Store) SendCheckout(ctx context.Context, by db.Actor, r SendCheckout, now time.Time) (CheckoutSending, error) {
	var out CheckoutSending

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		out = CheckoutSending{At: now.Truncate(time.Microsecond)} // as it is kept

		var trip models.Trip
		if out.Booking, out.Attempt, trip, err = lockOpenCheckout(ctx, tx, r.BookingID, now); err != nil {
			return err
		}

		if out.Sent, err = countSending(ctx, tx, &out.Attempt, now); err != nil {
			return err
		}

		out.Messages = s.checkoutMessages(&out, &trip)
		if _, err := outbox.InsertMessages(ctx, tx, out.Messages); err != nil {
			return err
		}

		channels := make([]models.NotificationChannel, len(out.Messages))
		for i := range out.Messages {
			channels[i] = out.Messages[i].Channel
		}

		err = db.Audit(ctx, tx, by, models.AuditCheckoutLinkSent, models.EntityBooking, &out.Booking.ID, map[string]any{
			"payment_transaction_id": out.Attempt.ID, "number": out.Sent, "channels": channels,
		})
		if err != nil {
			return err
		}

		return r.Once.Keep(ctx, tx, out)
	})
	if err != nil {
		return CheckoutSending{}, err
	}

	return out, nil
}

// lockOpenCheckout finds the attempt of a booking that can be paid at now. It stays as it is until the transaction ends: no message is
// queued about one that is settled or cancelled at this moment.
func lockOpenCheckout(
	ctx context.Context, tx bun.Tx, booking uuid.UUID, now time.Time,
) (b models.Booking, t models.PaymentTransaction, trip models.Trip, err error) {
	err = tx.NewSelect().Model(&t).Where("pt.booking_id = ?", booking).Where("pt.kind = ?", models.KindPayment).
		Where("pt.status = ?", models.TransactionPending).For("SHARE").Scan(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return b, t, trip, fmt.Errorf("lock open attempt: %w", err)
	}

	if err = tx.NewSelect().Model(&b).Where("bk.id = ?", booking).Scan(ctx); err != nil {
		return b, t, trip, db.NotFound(err)
	}

	if trip, err = tripByID(ctx, tx, b.TripID); err != nil {
		return b, t, trip, err
	}

	if err = b.Payable(&trip, now); err != nil {
		return b, t, trip, err
	}

	held, err := tx.NewSelect().Model((*models.PaymentTransaction)(nil)).Where("pt.booking_id = ?", booking).Where(inSuspense).Exists(ctx)

	switch {
	case err != nil:
		err = fmt.Errorf("look for money in suspense: %w", err)
	case held:
		err = errInSuspense()
	case t.CheckoutURL == nil:
		err = models.NewError(models.CodeNoOpenCheckout, "checkout.none_open")
	case !t.ExpiresAt.After(now):
		err = models.NewError(models.CodeBookingNotPayable, "booking.hold_over")
	}

	return b, t, trip, err
}

// countSending counts a sending of the link of a booking, unless there were too many or the last one was a short while ago. One statement
// decides and counts, so that of many requests at once one is let through.
func countSending(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, now time.Time) (sent int, err error) {
	err = tx.NewRaw(`
		INSERT INTO checkout_sendings AS s (booking_id, sent, sent_at) VALUES (?, 1, ?)
		ON CONFLICT (booking_id) DO UPDATE SET sent = s.sent + 1, sent_at = excluded.sent_at
		WHERE s.sent < ? AND s.sent_at <= ?
		RETURNING sent`, *t.BookingID, now, models.CheckoutSendings, now.Add(-models.CheckoutSendingPause)).Scan(ctx, &sent)
	if err == nil {
		return sent, nil
	}

	if !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("count sending: %w", err)
	}

	var last time.Time
	if err := tx.NewRaw("SELECT sent, sent_at FROM checkout_sendings WHERE booking_id = ?", *t.BookingID).Scan(ctx, &sent, &last); err != nil {
		return 0, fmt.Errorf("read sendings: %w", err)
	}

	if sent >= models.CheckoutSendings {
		// When the time to pay is over there is nothing to send any more.
		return 0, &TooManySendingsError{models.NewError(models.CodeRateLimited,
			"checkout.sent_too_often", "n", sent), t.ExpiresAt.Sub(now)}
	}

	// A sending that this request has waited for is later than its own time.
	after := min(last.Add(models.CheckoutSendingPause).Sub(now), models.CheckoutSendingPause)

	return 0, &TooManySendingsError{models.NewError(models.CodeRateLimited, "checkout.sent_recently",
		"n", int(models.CheckoutSendingPause.Minutes())), after}
}

// checkoutMessages are the email and the SMS; none goes by SMS to a country to which none are sent.
func (s *Store) checkoutMessages(out *CheckoutSending, trip *models.Trip) []models.Notification {
	b := &out.Booking
	data := outbox.BookingFacts(b, trip, out.Attempt.Amount)
	data["vat_amount"] = out.Attempt.VATAmount.String()
	data["seats"], data["retry_until"] = strconv.Itoa(b.Seats), out.Attempt.ExpiresAt.UTC().Format(time.RFC3339)

	phone := b.ContactPhone
	if !outbox.SMSAllowed(s.policies, phone) {
		phone = ""
	}

	rows := outbox.NewMessages(models.NotifyCheckoutLink, out.Attempt.ID, strconv.Itoa(out.Sent), b.Locale, b.ContactEmail, phone, data)
	slices.SortFunc(rows, func(a, b models.Notification) int { return cmp.Compare(a.Channel, b.Channel) })

	return rows
}

// CheckoutLink is the address at which an attempt can be paid at now. Error: NOT_FOUND when it cannot be paid any more.
func (s *Store) CheckoutLink(ctx context.Context, transaction uuid.UUID, now time.Time) (address string, err error) {
	err = s.db.NewSelect().Model((*models.PaymentTransaction)(nil)).Column("checkout_url").Where("pt.id = ?", transaction).
		Where("pt.status = ?", models.TransactionPending).Where("pt.expires_at > ?", now).Where("pt.checkout_url IS NOT NULL").
		Scan(ctx, &address)

	return address, db.NotFound(err)
}
