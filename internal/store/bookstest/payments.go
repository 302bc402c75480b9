package bookstest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/payments"
	"rihla/models"
)

// Attempt is the nth payment attempt of a booking.
func (b *Books) Attempt(booking models.Booking, n int, m models.PaymentMethod) models.Attempt {
	return models.Attempt{
		BookingID: booking.ID, ProviderID: booking.ProviderID, Number: n, UserID: booking.UserID, Method: m,
	}
}

// Campaign inserts a campaign of 1000.00 without VAT, PENDING_PAYMENT.
func (b *Books) Campaign(t *testing.T, startsOn, endsOn models.Date) uuid.UUID {
	t.Helper()

	id := models.NewSubjectID()
	b.Exec(t, `INSERT INTO ad_campaigns (id, provider_id, trip_id, created_by, title, starts_on, ends_on, price)
		VALUES ($1, $2, $3, $4, 'Spring', $5, $6, 1000)`,
		id, b.Provider.ID, b.Trip.ID, b.Users[models.RoleProviderAdmin].ID, startsOn.String(), endsOn.String())

	return id
}

// OpenCampaign opens the nth attempt of a campaign, with a checkout.
func (b *Books) OpenCampaign(t *testing.T, campaign uuid.UUID, n int) models.PaymentTransaction {
	t.Helper()

	return b.OpenCampaignBy(t, campaign, n, models.MethodWalletB)
}

// OpenCampaignBy is OpenCampaign by another method.
func (b *Books) OpenCampaignBy(t *testing.T, campaign uuid.UUID, n int, method models.PaymentMethod) models.PaymentTransaction {
	t.Helper()

	a := models.Attempt{
		CampaignID: campaign, ProviderID: b.Provider.ID, Number: n, UserID: b.Users[models.RoleProviderAdmin].ID, Method: method,
	}
	tx, _, err := b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.NoError(t, b.Store.Payments.SaveCheckout(t.Context(), tx.ID, tx.Channel, payments.OpenedCheckout{
		Reference: "ref-" + tx.ID.String(), URL: "https://gateway.test/" + tx.ID.String(),
	}))

	return tx
}

// BookingNow reads a booking.
func (b *Books) BookingNow(t *testing.T, id uuid.UUID) models.Booking {
	t.Helper()

	booking, err := b.Store.Bookings.BookingByID(t.Context(), id)
	require.NoError(t, err)

	return booking
}

// Transaction reads a payment.
func (b *Books) Transaction(t *testing.T, id uuid.UUID) models.PaymentTransaction {
	t.Helper()

	tx, err := b.Store.Payments.TransactionByID(t.Context(), id)
	require.NoError(t, err)

	return tx
}

// PaymentStatus is what the customer sees of a booking's payment. Error: NOT_FOUND.
func (b *Books) PaymentStatus(t *testing.T, booking uuid.UUID, at time.Time) (payments.PaymentStatus, error) {
	t.Helper()

	s, err := b.Store.Payments.PaymentStatusFor(t.Context(), b.Customer.ID, uuid.Nil, booking, at)
	require.NoError(t, err)
	require.NotNil(t, s.Account)

	if s.Payment == nil {
		return payments.PaymentStatus{}, models.NotFound()
	}

	return *s.Payment, nil
}

// WaitForAnswer reports whether an attempt was noted as one whose customer waits.
func (b *Books) WaitForAnswer(t *testing.T, attempt uuid.UUID, at time.Time) (bool, error) {
	t.Helper()

	channels, err := b.Store.Payments.WaitForAnswers(t.Context(), []uuid.UUID{attempt}, at)

	return len(channels) == 1, err
}
