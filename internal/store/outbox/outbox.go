package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// QueueForBooking writes the outbox rows of a message to a booking's contact, in the transaction of its cause, and counts them.
func QueueForBooking(
	ctx context.Context, tx bun.Tx, b *models.Booking, kind models.NotificationKind, transaction uuid.UUID, facts map[string]string,
) (int, error) {
	return InsertMessages(ctx, tx, BookingMessages(b, kind, transaction, facts))
}

// BookingMessages are the outbox rows of QueueForBooking.
func BookingMessages(
	b *models.Booking, kind models.NotificationKind, transaction uuid.UUID, facts map[string]string,
) []models.Notification {
	return NewMessages(kind, transaction, "", b.Locale, b.ContactEmail, b.ContactPhone, facts)
}

// BookingFacts are what every message about a booking says of it and of money.
func BookingFacts(b *models.Booking, trip *models.Trip, amount models.Money) map[string]string {
	facts := BookingData(b, trip)
	facts["amount"], facts["currency"] = amount.String(), b.Currency

	return facts
}

// BookingData is what every message about a booking may show; trip has its title and its departure.
func BookingData(b *models.Booking, trip *models.Trip) map[string]string {
	return map[string]string{
		"name": b.ContactName, "booking_id": b.ID.String(), "booking_number": b.Number, "trip_title": trip.Title,
		"departure_at": trip.DepartureAt.UTC().Format(time.RFC3339),
	}
}

// RefundFacts are what a message about a refund that was made says of the payment, of which it is the newest: what was paid, what had gone
// back before, what is left, which is the fee of a cancelled booking, by which way the money goes and until when the customer's bank shows
// it. stays says that what was paid for goes on with what is left.
func RefundFacts(facts map[string]string, stays bool, t *models.PaymentTransaction, r *models.Refund) {
	taken, currency := t.Taken()
	facts["currency"], facts["paid_amount"] = currency, taken.String()

	if before := t.GivenBack().Sub(r.Amount); before.IsPositive() {
		facts["refunded_before"] = before.String()
	}

	if left := t.Remaining(); left.IsPositive() && stays {
		facts["kept_amount"] = left.String()
	} else if left.IsPositive() {
		facts["fee_amount"] = left.String()
	}

	RefundWay(facts, t.Method(), r.Channel)

	if r.CompletedAt != nil {
		facts["expected_by"] = models.RefundExpectedBy(*r.CompletedAt).String()
	}
}

// RefundWay is how money goes back, for the facts of a message.
func RefundWay(facts map[string]string, m models.PaymentMethod, c models.RefundChannel) {
	facts["payment_method"], facts["refund_channel"] = string(m), string(c)
}

// Enqueue writes the outbox rows of a message that is sent once, in the transaction of its cause.
func Enqueue(
	ctx context.Context, tx bun.Tx, kind models.NotificationKind, transaction uuid.UUID,
	locale models.Locale, email, phone string, data map[string]string,
) (int, error) {
	return InsertMessages(ctx, tx, NewMessages(kind, transaction, "", locale, email, phone, data))
}

// NewMessages are the outbox rows of one message: an email and an SMS, of those that have an address.
func NewMessages(
	kind models.NotificationKind, transaction uuid.UUID, cause string,
	locale models.Locale, email, phone string, data map[string]string,
) []models.Notification {
	var rows []models.Notification

	// In one spelling, so that the messages of a day can be counted, and without marks that an earlier booking was made with.
	email = models.CleanExact(email)
	if number, ok := models.E164(phone); ok {
		phone = number
	}

	for channel, to := range map[models.NotificationChannel]string{models.NotifyEmail: email, models.NotifySMS: phone} {
		if to == "" {
			continue
		}

		id := models.NotificationID(transaction, kind, channel)
		if cause != "" {
			id = models.RepeatedNotificationID(transaction, kind, channel, cause)
		}

		rows = append(rows, models.Notification{
			ID: id, TransactionID: transaction,
			Kind: kind, Channel: channel, Cause: cause, Locale: locale, Recipient: to, Data: data, Status: models.NotificationPending,
		})
	}

	return rows
}

// InsertMessages writes outbox rows. The unique index on (transaction, kind, channel, cause) makes a second queueing a no-op;
// only rows really inserted are counted.
func InsertMessages(ctx context.Context, tx bun.Tx, rows []models.Notification) (int, error) {
	return insertMessages(ctx, tx, rows)
}

func insertMessages(ctx context.Context, tx bun.IDB, rows []models.Notification) (int, error) {
	if len(rows) == 0 {
		return 0, nil
	}

	res, err := Insertion(tx, rows).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("queue notifications: %w", err)
	}

	n, err := res.RowsAffected()

	return int(n), err
}

// Insertion is the INSERT of InsertMessages, for one that is written with others. There is at least one row.
func Insertion(db bun.IDB, rows []models.Notification) *bun.InsertQuery {
	return db.NewInsert().Model(&rows).ExcludeColumn("created_at", "next_attempt_at").On("CONFLICT DO NOTHING")
}
