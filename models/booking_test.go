package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestBookingPayable(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)

	for name, c := range map[string]struct {
		change  func(*models.Booking, *models.Trip)
		payable bool
	}{
		"held":               {func(*models.Booking, *models.Trip) {}, true},
		"confirmed":          {func(b *models.Booking, _ *models.Trip) { b.Status = models.BookingConfirmed }, false},
		"cancelled":          {func(b *models.Booking, _ *models.Trip) { b.Status = models.BookingCancelled }, false},
		"hold ends now":      {func(b *models.Booking, _ *models.Trip) { b.HoldUntil = now }, false},
		"hold ends later":    {func(b *models.Booking, _ *models.Trip) { b.HoldUntil = now.Add(time.Millisecond) }, true},
		"trip leaves now":    {func(_ *models.Booking, t *models.Trip) { t.DepartureAt = now }, false},
		"trip leaves later":  {func(_ *models.Booking, t *models.Trip) { t.DepartureAt = now.Add(time.Second) }, true},
		"trip not published": {func(_ *models.Booking, t *models.Trip) { t.Status = models.TripDraft }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := models.Booking{Status: models.BookingPendingPayment, HoldUntil: now.Add(time.Minute)}
			trip := models.Trip{Status: models.TripPublished, DepartureAt: now.Add(time.Hour)}
			c.change(&b, &trip)

			if err := b.Payable(&trip, now); c.payable {
				require.NoError(t, err)
			} else {
				require.Equal(t, models.CodeBookingNotPayable, codeOf(t, err))
			}
		})
	}
}

func codeOf(t *testing.T, err error) models.Code {
	t.Helper()

	var e *models.Error

	require.ErrorAs(t, err, &e)

	return e.Code
}
