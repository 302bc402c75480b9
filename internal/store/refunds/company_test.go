package refunds_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/models"
)

const (
	desk     = "desk@tours.test"
	accounts = "accounts@tours.test"
)

// told is the data of the only mail of a kind to a contact person.
func (b *books) told(t *testing.T, email string, m models.CompanyMessage) map[string]string {
	t.Helper()
	require.Equal(t, 1, b.Told(t, email, m), m)

	var (
		raw  []byte
		data map[string]string
	)

	require.NoError(t, b.DB.QueryRowContext(t.Context(), "SELECT data FROM notifications WHERE recipient = $1 AND kind = $2", email, m.Kind()).Scan(&raw))
	require.NoError(t, json.Unmarshal(raw, &data))

	return data
}

// TestCompaniesAreTold what happens to their bookings and money, each person what they want, and nothing about the customer.
func TestCompaniesAreTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Contact(t, desk)
	b.Contact(t, accounts, models.CompanyPayout, models.CompanyClawback)

	tx := b.Paid(t, 3)
	number := b.BookingNow(t, *tx.BookingID).Number

	booked := b.told(t, desk, models.CompanyBooked)
	require.Equal(t, map[string]string{
		"name": "Booking desk", "booking_number": number, "trip_title": b.Trip.Title, "seats": "3", "amount": "345.00", "currency": "SAR",
		"booking_stays": "true", "departure_at": b.Trip.DepartureAt.UTC().Format(time.RFC3339),
	}, booked)

	done := b.cancel(t, tx, 100*time.Hour, 1)
	cancelled := b.told(t, desk, models.CompanyCancelled)
	require.Equal(t, "1", cancelled["seats"])
	require.Equal(t, "true", cancelled["booking_stays"])
	require.Zero(t, b.Told(t, desk, models.CompanyRefunded), "not yet")

	b.settleCancelled(t, done, models.RefundResult{Status: models.RefundSucceeded, GatewayRefundID: "re-1"})
	b.settleCancelled(t, done, models.RefundResult{Status: models.RefundSucceeded, GatewayRefundID: "re-1"})
	require.Equal(t, "115.00", b.told(t, desk, models.CompanyRefunded)["amount"])

	line := b.Records(t, tx)[len(b.Records(t, tx))-1]
	reference := "TRF-1"
	_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, ledger.MarkTransfer{Reference: &reference})
	require.NoError(t, err)

	paid := b.told(t, accounts, models.CompanyPayout)
	require.Equal(t, "207.00", paid["amount"])
	require.Equal(t, "1", paid["entries"])
	require.Equal(t, reference, paid["payout_reference"])

	b.settleCancelled(t, b.cancel(t, tx, 100*time.Hour), models.RefundResult{Status: models.RefundSucceeded, GatewayRefundID: "re-2"})
	require.Equal(t, "207.00", b.told(t, accounts, models.CompanyClawback)["amount"])
	require.Equal(t, 2, b.Told(t, desk, models.CompanyCancelled))
	require.Equal(t, 2, b.Told(t, desk, models.CompanyRefunded))

	require.Zero(t, b.Told(t, accounts, models.CompanyBooked)+b.Told(t, accounts, models.CompanyCancelled)+b.Told(t, accounts, models.CompanyRefunded))
	require.Zero(t, b.Count(t, `SELECT count(*) FROM notifications WHERE kind LIKE 'COMPANY_%' AND (channel = 'SMS'
		OR data::text ~ '(Contact|Passenger|contact@rihla|9665)')`))
}

// TestCompaniesAreToldOfRefundsThatCancel: a full refund cancels the booking when it succeeds.
func TestCompaniesAreToldOfRefundsThatCancel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Contact(t, desk)

	b.GiveBack(t, b.Paid(t, 2), "")
	require.Equal(t, "2", b.told(t, desk, models.CompanyCancelled)["seats"])
	require.Empty(t, b.told(t, desk, models.CompanyRefunded)["booking_stays"])
}

// TestOnePayoutIsOneMail with its total and the number of its entries; the same call again sends none.
func TestOnePayoutIsOneMail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Contact(t, accounts)

	ids := make([]uuid.UUID, 3)
	for i := range ids {
		ids[i] = b.Records(t, b.Paid(t, 1))[0].ID
	}

	for range 2 {
		_, err := b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, ledger.MarkTransfers{IDs: ids})
		require.NoError(t, err)
	}

	paid := b.told(t, accounts, models.CompanyPayout)
	require.Equal(t, "3", paid["entries"])
	require.Equal(t, "310.50", paid["amount"])

	admin := b.As(models.RoleAdmin)
	_, err := b.Store.Ledger.RevertTransferred(t.Context(), admin, ids[0], ledger.RevertTransfer{Reason: "by mistake"})
	require.NoError(t, err)
	_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, ids[0], ledger.MarkTransfer{})
	require.NoError(t, err)
	require.Equal(t, 2, b.Told(t, accounts, models.CompanyPayout), "another payout")
}

// TestADisputeIsOneMail however often the gateway tells of it.
func TestADisputeIsOneMail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Contact(t, desk)
	tx := b.Paid(t, 1)

	for range 2 {
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentDisputed, nil))
	}

	require.Equal(t, b.BookingNow(t, *tx.BookingID).Number, b.told(t, desk, models.CompanyDispute)["booking_number"])
}

// TestCompaniesWithoutContactsAreToldNothing, nor those whose persons have switched all off.
func TestCompaniesWithoutContactsAreToldNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.GiveBack(t, b.Paid(t, 1), "")

	_, err := b.Store.Catalogue.UpdateCompany(t.Context(), bookstest.As(b.World, models.RoleProviderAdmin), func(c *models.Company) error {
		c.Contacts = []models.ProviderContact{{Name: "Silent", Email: desk, Messages: []models.CompanyMessage{}}}

		return nil
	})
	require.NoError(t, err)
	b.GiveBack(t, b.Paid(t, 1), "")
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications WHERE kind LIKE 'COMPANY_%'"))
}
