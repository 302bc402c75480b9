package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
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

// Enqueue writes the outbox rows of a message that is sent once, in the transaction of its cause.
func Enqueue(
	ctx context.Context, tx bun.Tx, kind models.NotificationKind, transaction uuid.UUID,
	locale models.Locale, email, phone string, data map[string]string,
) (int, error) {
	return InsertMessages(ctx, tx, NewMessages(kind, transaction, "", locale, email, phone, data))
}

// NewMessages are the outbox rows of one message: an e-mail and an SMS, of those that have an address.
func NewMessages(
	kind models.NotificationKind, transaction uuid.UUID, cause string,
	locale models.Locale, email, phone string, data map[string]string,
) []models.Notification {
	var rows []models.Notification

	// In one spelling, so that the messages of a day can be counted.
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

// deliveryLease is how long a deliverer that was killed keeps its rows from the next one. A living one renews it
// (KeepNotifications) well within that time. The outbox workflow tries again no sooner.
const deliveryLease = 3 * time.Second

// maxDeliveryTries bounds how often a message is tried before it is given up; with the back-off this is a day.
const maxDeliveryTries = 20

// ClaimNotifications takes up to limit due rows of the outbox for one deliverer and counts the try. A deliverer
// that dies loses them after a lease; the sender's message id makes the second delivery recognizable.
func (s *Store) ClaimNotifications(ctx context.Context, limit int, now time.Time) ([]models.Notification, error) {
	var rows []models.Notification

	due := s.db.NewSelect().Model((*models.Notification)(nil)).Column("id").
		Where("status = ?", models.NotificationPending).Where("next_attempt_at <= ?", now).
		Order("next_attempt_at").Limit(int64(limit)).For("UPDATE SKIP LOCKED")

	err := s.db.NewUpdate().Model(&rows).
		Set("attempts = attempts + 1").Set("next_attempt_at = ?", now.Add(deliveryLease)).
		Where("id IN (?)", due).Returning("*").Scan(db.Prepared(ctx))
	if err != nil {
		return nil, fmt.Errorf("claim notifications: %w", err)
	}

	return rows, nil
}

// KeepNotifications renews the lease of those rows of a claimed batch that still have to be delivered. It does not
// bring forward the next try of one that was put back.
func (s *Store) KeepNotifications(ctx context.Context, batch []models.Notification, now time.Time) error {
	ids := make([]uuid.UUID, len(batch))
	for i := range batch {
		ids[i] = batch[i].ID
	}

	if len(ids) == 0 {
		return nil
	}

	until := now.Add(deliveryLease)

	_, err := s.db.NewUpdate().Model((*models.Notification)(nil)).Set("next_attempt_at = ?", until).
		Where("id IN (?)", bun.List(ids)).Where("status = ?", models.NotificationPending).Where("next_attempt_at < ?", until).Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep notifications: %w", err)
	}

	return nil
}

// NotificationSentNow marks a claimed row delivered, one that a later move of its trip has replaced meanwhile, too.
func (s *Store) NotificationSentNow(ctx context.Context, id uuid.UUID, now time.Time) error {
	_, err := s.db.NewUpdate().Model((*models.Notification)(nil)).
		Set("status = ?", models.NotificationSent).Set("sent_at = ?", now).Set("last_error = ''").
		Where("id = ?", id).
		Where("(status = ? OR status = ? AND last_error = ?)", models.NotificationPending, models.NotificationFailed, WithheldMoved).
		Exec(db.Prepared(ctx))
	if err != nil {
		return fmt.Errorf("mark notification sent: %w", err)
	}

	return nil
}

// NotificationFailedNow puts a claimed row back with exponential back-off, or gives it up when the failure is
// permanent or the tries are used up. reason must not name the recipient.
func (s *Store) NotificationFailedNow(ctx context.Context, n *models.Notification, permanent bool, reason string, now time.Time) error {
	status, next := models.NotificationPending, now.Add(min(time.Second<<min(n.Attempts, 20), 2*time.Hour))
	if permanent || n.Attempts >= maxDeliveryTries {
		status = models.NotificationFailed
	}

	_, err := s.db.NewUpdate().Model((*models.Notification)(nil)).
		Set("status = ?", status).Set("next_attempt_at = ?", next).Set("last_error = ?", reason).
		Where("id = ?", n.ID).Where("status = ?", models.NotificationPending).Exec(ctx)
	if err != nil {
		return fmt.Errorf("put notification back: %w", err)
	}

	return nil
}
