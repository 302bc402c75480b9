package outbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// CompanyNews is one thing that the contact persons of a company are told.
type CompanyNews struct {
	Message     models.CompanyMessage
	Transaction uuid.UUID // that it is about
	Cause       string    // empty: it happens once to the transaction
	Data        map[string]string
}

// CompanyData is what a company may read of a booking: nothing about its customer.
func CompanyData(b *models.Booking, trip *models.Trip, seats int) map[string]string {
	data := map[string]string{
		"booking_number": b.Number, "trip_title": trip.Title, "seats": strconv.Itoa(seats),
		"departure_at": trip.DepartureAt.UTC().Format(time.RFC3339),
	}
	if b.Status == models.BookingConfirmed {
		data["booking_stays"] = "true"
	}

	return data
}

// TellCompany queues news for the contact persons of a company who want them, in the transaction of their cause, and counts the messages.
// news is asked for what there is to tell when there is one who wants any of the messages (rules: notifications.company).
func TellCompany(
	ctx context.Context, tx bun.IDB, provider uuid.UUID, news func() ([]CompanyNews, error), messages ...models.CompanyMessage,
) (int, error) {
	var contacts []models.ProviderContact

	err := tx.NewSelect().Model(&contacts).Where("pc.provider_id = ?", provider).
		Where("pc.messages && ARRAY[?]::text[]", bun.List(messages)).Order("pc.position").Scan(ctx)
	if err != nil {
		return 0, fmt.Errorf("read contact persons: %w", err)
	}

	if len(contacts) == 0 {
		return 0, nil
	}

	all, err := news()
	if err != nil {
		return 0, err
	}

	var rows []models.Notification
	for i := range all {
		rows = append(rows, all[i].For(contacts)...)
	}

	return insertMessages(ctx, tx, rows)
}

// For are the outbox rows of the news, an email to each contact person who wants them. Their ids follow from the transaction, the cause and
// the address, so that each is queued once.
func (n *CompanyNews) For(contacts []models.ProviderContact) []models.Notification {
	var rows []models.Notification

	for i := range contacts {
		c := &contacts[i]
		if !slices.Contains(c.Messages, n.Message) {
			continue
		}

		data := map[string]string{"name": c.Name}
		maps.Copy(data, n.Data)

		sum := sha256.Sum256([]byte(strings.ToLower(c.Email)))
		cause := strings.TrimPrefix(n.Cause+":"+hex.EncodeToString(sum[:8]), ":")
		rows = append(rows, NewMessages(n.Message.Kind(), n.Transaction, cause, models.LocaleArabic, c.Email, "", data)...)
	}

	return rows
}
