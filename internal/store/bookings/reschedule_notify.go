package bookings

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/outbox"
	"rihla/models"
)

// queueMoveMessages queues a message for every booking that is paid, in place of one about an earlier move that has not been sent.
// A booking that is paid later gets the departure then.
func queueMoveMessages(ctx context.Context, tx bun.Tx, move uuid.UUID, was, is *models.Trip, bookings []models.Booking) error {
	paid, by, err := paidOf(ctx, tx, is.ID)
	if err != nil {
		return err
	}

	unsent, err := replaceUnsent(ctx, tx, paid)
	if err != nil {
		return err
	}

	var rows []models.Notification

	for i := range bookings {
		b := &bookings[i]

		payment, ok := by[b.ID]
		if !ok {
			continue
		}

		data := outbox.BookingData(b, is)
		data["departure_was"] = was.DepartureAt.UTC().Format(time.RFC3339)

		if b.RescheduledBy != nil {
			data["refundable"] = "true"
			refundableFacts(data, payment)
		}

		for _, n := range outbox.NewMessages(models.NotifyTripMoved, payment.ID, move.String(), b.Locale, b.ContactEmail, b.ContactPhone, data) {
			// Of the departure in between the customer has not heard.
			if was := unsent[movedMessage{payment.ID, n.Channel}]; was != "" && was != data["departure_at"] {
				n.Data = maps.Clone(data)
				n.Data["departure_was"] = was
			}

			rows = append(rows, n)
		}
	}

	_, err = outbox.InsertMessages(ctx, tx, rows)

	return err
}

// paidOf are the payments by which bookings of a trip are paid, and the same by booking: their customers are told of a move.
func paidOf(
	ctx context.Context, in bun.IDB, trip uuid.UUID,
) (paid []models.PaymentTransaction, by map[uuid.UUID]*models.PaymentTransaction, err error) {
	err = in.NewSelect().Model(&paid).ColumnExpr("?", db.Columns[models.PaymentTransaction](in, "pt")).
		Join("JOIN bookings AS bk ON bk.id = pt.booking_id").
		Where("bk.trip_id = ?", trip).Where("bk.status = ?", models.BookingConfirmed).
		Where("pt.status = ?", models.TransactionPaid).Scan(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read payments: %w", err)
	}

	by = make(map[uuid.UUID]*models.PaymentTransaction, len(paid))
	for i := range paid {
		by[*paid[i].BookingID] = &paid[i]
	}

	return paid, by, nil
}

// refundableFacts say what a customer who may have all of it back would get, and by which way.
func refundableFacts(data map[string]string, t *models.PaymentTransaction) {
	left := t.Remaining()
	if !left.IsPositive() {
		return
	}

	data["amount"], data["currency"] = left.String(), t.TakenCurrency()
	outbox.RefundWay(data, t.Method(), t.RefundChannel())

	if before := t.GivenBack(); before.IsPositive() {
		data["refunded_before"] = before.String()
	}
}

// movedMessage is a customer's message about moves of the trip, on one channel.
type movedMessage struct {
	transaction uuid.UUID
	channel     models.NotificationChannel
}

// replaceUnsent gives the messages up that still wait to tell of earlier moves: the newest departure is the one that counts, and who
// moves a trip again and again does not use up what its customers may be sent. It returns the departure that each of them named as
// the one before. One that is being sent at this moment arrives all the same, before its successor (NotificationsSent).
func replaceUnsent(ctx context.Context, tx bun.Tx, paid []models.PaymentTransaction) (map[movedMessage]string, error) {
	if len(paid) == 0 {
		return nil, nil //nolint:nilnil // there are none
	}

	ids := make([]uuid.UUID, len(paid))
	for i := range paid {
		ids[i] = paid[i].ID
	}

	var rows []models.Notification

	err := tx.NewUpdate().Model(&rows).Set("status = ?", models.NotificationFailed).Set("last_error = ?", outbox.WithheldMoved).
		Where("transaction_id IN (?)", bun.List(ids)).Where("kind = ?", models.NotifyTripMoved).Where("status = ?", models.NotificationPending).
		Returning("transaction_id, channel, data").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("replace notifications: %w", err)
	}

	unsent := make(map[movedMessage]string, len(rows))
	for i := range rows {
		unsent[movedMessage{rows[i].TransactionID, rows[i].Channel}] = rows[i].Data["departure_was"]
	}

	return unsent, nil
}
