package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// TestShownToCompany: a company has the phone of confirmed bookings until 2 days after the trip's end, and never more of the contact.
func TestShownToCompany(t *testing.T) {
	t.Parallel()

	ends := time.Date(2026, 12, 20, 5, 0, 0, 0, time.UTC)
	trip := models.Trip{ReturnAt: ends}

	for _, status := range []models.BookingStatus{
		models.BookingPendingPayment, models.BookingConfirmed, models.BookingPaymentFailed, models.BookingCancelled,
	} {
		for now, in := range map[time.Time]bool{
			ends.AddDate(0, -1, 0): true, ends.Add(48*time.Hour - time.Second): true, ends.Add(48 * time.Hour): false, ends.AddDate(1, 0, 0): false,
		} {
			number := "+966500000000"
			passengers := []models.Passenger{{Name: "One", DocumentNumber: "A1234567"}}
			b := models.Booking{
				Status: status, ContactName: "Contact", ContactEmail: "contact@rihla.test", ContactPhone: number, ContactE164: &number,
				Passengers: passengers,
			}
			b.ShowToCompany(&trip, now)

			require.Empty(t, b.ContactName+b.ContactEmail)
			require.Equal(t, []models.Passenger{{Name: "One", DocumentNumber: "****4567"}}, b.Passengers)
			require.Equal(t, "A1234567", passengers[0].DocumentNumber)

			if status == models.BookingConfirmed && in {
				require.Equal(t, number, b.ContactPhone)
			} else {
				require.Empty(t, b.ContactPhone, "%s at %s", status, now)
				require.Nil(t, b.ContactE164)
			}
		}
	}
}
