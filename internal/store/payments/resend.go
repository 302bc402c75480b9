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

// resentAfterAll is what Retry-After says when a message was sent again as often as it may be.
const resentAfterAll = 24 * time.Hour

// Resend asks for a message about a booking to be sent again.
type Resend struct {
	BookingID uuid.UUID
	Kind      models.ResendKind
	// Once keeps the answer to the request.
	Once db.Once[Resending]
}

// Resending is a message that was queued again.
type Resending struct {
	Booking  models.Booking
	Kind     models.ResendKind
	Messages []models.Notification // by email and by SMS; at least one
	Sent     int                   // how often the message has been sent again, with this time
	At       time.Time
}

// Left is how often the message can be sent again.
func (r *Resending) Left() int { return models.Resendings - r.Sent }

// NextAt is from when on it can be sent again; nil: never.
func (r *Resending) NextAt() *time.Time {
	if r.Left() == 0 {
		return nil
	}

	next := r.At.Add(models.ResendingPause)

	return &next
}

// Resend queues a message about a booking once more, for the contact as it is now (rules: notifications.resend). Errors: NOT_FOUND;
// INVALID_STATE when the booking is not CONFIRMED, or has no refund that SUCCEEDED; RATE_LIMITED (*TooManySendingsError);
// IDEMPOTENCY_KEY_IN_PROGRESS.
func (s *Store) Resend(ctx context.Context, by db.Actor, r Resend, now time.Time) (Resending, error) {
	var out Resending

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		out = Resending{Kind: r.Kind, At: now.Truncate(time.Microsecond)} // as it is kept

		// Until the transaction ends the booking is not cancelled and its contact not corrected.
		if err := tx.NewSelect().Model(&out.Booking).Where("bk.id = ?", r.BookingID).For("SHARE").Scan(ctx); err != nil {
			return db.NotFound(err)
		}

		trip, err := tripByID(ctx, tx, out.Booking.TripID)
		if err != nil {
			return err
		}

		about, err := toldAgain(ctx, tx, &out.Booking, &trip, r.Kind)
		if err != nil {
			return err
		}

		if out.Sent, err = countResending(ctx, tx, &r, now); err != nil {
			return err
		}

		out.Messages = s.resentMessages(&out, about)
		if _, err := outbox.InsertMessages(ctx, tx, out.Messages); err != nil {
			return err
		}

		err = db.Audit(ctx, tx, by, models.AuditBookingResent, models.EntityBooking, &out.Booking.ID, map[string]any{
			"kind": r.Kind, "number": out.Sent, "payment_transaction_id": about.transaction,
		})
		if err != nil {
			return err
		}

		return r.Once.Keep(ctx, tx, out)
	})
	if err != nil {
		return Resending{}, err
	}

	return out, nil
}

// told is what a message to a customer is about.
type told struct {
	kind        models.NotificationKind
	transaction uuid.UUID
	facts       map[string]string
}

// toldAgain finds what the message is about. Error: INVALID_STATE when there is nothing.
func toldAgain(ctx context.Context, tx bun.Tx, b *models.Booking, trip *models.Trip, kind models.ResendKind) (told, error) {
	if kind == models.ResendRefund {
		return refundToldAgain(ctx, tx, b, trip)
	}

	if b.Status != models.BookingConfirmed {
		return told{}, models.NewError(models.CodeInvalidState, "booking.not_confirmed", "status", b.Status)
	}

	var t models.PaymentTransaction

	err := tx.NewSelect().Model(&t).Where("booking_id = ?", b.ID).Where("kind = ?", models.KindPayment).
		Where("status = ?", models.TransactionPaid).Scan(ctx)
	if err != nil {
		return told{}, fmt.Errorf("read payment: %w", err)
	}

	facts := paidFacts(b, trip, &t)
	if kind == models.ResendTicket {
		facts["ticket"] = "true"
	}

	return told{models.NotifyPaymentSucceeded, t.ID, facts}, nil
}

func refundToldAgain(ctx context.Context, tx bun.Tx, b *models.Booking, trip *models.Trip) (told, error) {
	var r models.Refund

	err := tx.NewSelect().Model(&r).Where("booking_id = ?", b.ID).Where("status = ?", models.RefundSucceeded).
		Where("refund_transaction_id IS NOT NULL").OrderExpr("completed_at DESC, id DESC").Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return told{}, models.NewError(models.CodeInvalidState, "booking.nothing_refunded")
	}

	if err != nil {
		return told{}, fmt.Errorf("read refund: %w", err)
	}

	var t models.PaymentTransaction
	if err := tx.NewSelect().Model(&t).Where("id = ?", r.PaymentTransactionID).Scan(ctx); err != nil {
		return told{}, fmt.Errorf("read refunded payment: %w", err)
	}

	facts := outbox.BookingFacts(b, trip, r.Amount)
	outbox.RefundFacts(facts, b.Status == models.BookingConfirmed, &t, &r)

	if b.Status == models.BookingConfirmed {
		facts["booking_stays"] = "true"
	}

	return told{models.NotifyRefundSucceeded, *r.RefundTransactionID, facts}, nil
}

// countResending counts that a message is sent again, unless it was too often or a short while ago. One statement decides and counts, so
// that of many requests at once one is let through.
func countResending(ctx context.Context, tx bun.Tx, r *Resend, now time.Time) (sent int, err error) {
	err = tx.NewRaw(`
		INSERT INTO message_sendings AS s (booking_id, kind, sent, sent_at) VALUES (?, ?, 1, ?)
		ON CONFLICT (booking_id, kind) DO UPDATE SET sent = s.sent + 1, sent_at = excluded.sent_at
		WHERE s.sent < ? AND s.sent_at <= ?
		RETURNING sent`, r.BookingID, r.Kind, now, models.Resendings, now.Add(-models.ResendingPause)).Scan(ctx, &sent)
	if err == nil {
		return sent, nil
	}

	if !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("count sending: %w", err)
	}

	var last time.Time

	err = tx.NewRaw("SELECT sent, sent_at FROM message_sendings WHERE booking_id = ? AND kind = ?", r.BookingID, r.Kind).
		Scan(ctx, &sent, &last)
	if err != nil {
		return 0, fmt.Errorf("read sendings: %w", err)
	}

	if sent >= models.Resendings {
		return 0, &TooManySendingsError{models.NewError(models.CodeRateLimited, "booking.resent_too_often", "n", sent), resentAfterAll}
	}

	// A sending that this request has waited for is later than its own time.
	after := min(last.Add(models.ResendingPause).Sub(now), models.ResendingPause)

	return 0, &TooManySendingsError{models.NewError(models.CodeRateLimited, "booking.resent_recently",
		"n", int(models.ResendingPause.Minutes())), after}
}

// resentMessages are the email and the SMS; none goes by SMS to a country to which none are sent.
func (s *Store) resentMessages(out *Resending, about told) []models.Notification {
	b := &out.Booking

	phone := b.ContactPhone
	if !outbox.SMSAllowed(s.policies, phone) {
		phone = ""
	}

	cause := models.ResentCause(out.Kind, out.Sent)
	rows := outbox.NewMessages(about.kind, about.transaction, cause, b.Locale, b.ContactEmail, phone, about.facts)
	slices.SortFunc(rows, func(a, b models.Notification) int { return cmp.Compare(a.Channel, b.Channel) })

	return rows
}

// nameReference adds the gateway's reference of a payment, by which staff find it.
func nameReference(facts map[string]string, t *models.PaymentTransaction) {
	if t.Reference != nil {
		facts["payment_reference"] = *t.Reference
	}
}

// paidFacts are what the confirmation says.
func paidFacts(b *models.Booking, trip *models.Trip, t *models.PaymentTransaction) map[string]string {
	facts := outbox.BookingFacts(b, trip, t.Amount)
	facts["seats"], facts["vat_amount"] = strconv.Itoa(b.Seats), t.VATAmount.String()
	facts["payment_method"] = string(t.Method())
	nameReference(facts, t)

	return facts
}
