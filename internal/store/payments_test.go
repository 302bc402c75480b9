package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

func (b *books) attempt(booking models.Booking, n int, m models.PaymentMethod) models.Attempt {
	return models.Attempt{
		BookingID: booking.ID, ProviderID: booking.ProviderID, Number: n, UserID: booking.UserID, Method: m,
	}
}

// campaign inserts a campaign of 1000.00 without VAT, PENDING_PAYMENT.
func (b *books) campaign(t *testing.T, startsOn, endsOn models.Date) uuid.UUID {
	t.Helper()

	id := models.NewID()
	b.exec(t, `INSERT INTO ad_campaigns (id, provider_id, trip_id, created_by, title, starts_on, ends_on, price)
		VALUES ($1, $2, $3, $4, 'Spring', $5, $6, 1000)`,
		id, b.Provider.ID, b.Trip.ID, b.Users[models.RoleProviderAdmin].ID, startsOn.String(), endsOn.String())

	return id
}

// openCampaign opens the nth attempt of a campaign, with a checkout.
func (b *books) openCampaign(t *testing.T, campaign uuid.UUID, n int) models.PaymentTransaction {
	t.Helper()

	a := models.Attempt{
		CampaignID: campaign, ProviderID: b.Provider.ID, Number: n, UserID: b.Users[models.RoleProviderAdmin].ID, Method: models.MethodWalletB,
	}
	tx, _, err := b.s.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.NoError(t, b.s.SaveCheckout(t.Context(), tx.ID, "ref-"+tx.ID.String(), "https://gateway.test/"+tx.ID.String()))

	return tx
}

func (b *books) bookingNow(t *testing.T, id uuid.UUID) models.Booking {
	t.Helper()

	booking, err := b.s.BookingByID(t.Context(), id)
	require.NoError(t, err)

	return booking
}

func (b *books) transaction(t *testing.T, id uuid.UUID) models.PaymentTransaction {
	t.Helper()

	tx, err := b.s.TransactionByID(t.Context(), id)
	require.NoError(t, err)

	return tx
}

func TestOpenPayment(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	booking := b.book(t, b.Trip, 3)

	a := b.attempt(booking, 1, models.MethodWalletB)
	require.NoError(t, b.s.SetReturnURL(t.Context(), a, "https://app.rihla.test/done", "https://api.rihla.test"))

	tx, _, err := b.s.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)

	stored := b.transaction(t, tx.ID)
	require.Equal(t, models.BookingAttemptID(booking.ID, 1), stored.ID)
	require.Equal(t, models.KindPayment, stored.Kind)
	require.Equal(t, models.TransactionPending, stored.Status)
	require.Equal(t, booking.ID, *stored.BookingID)
	require.Nil(t, stored.AdCampaignID)
	require.Equal(t, b.customer.ID, stored.UserID)
	require.Equal(t, b.Provider.ID, stored.ProviderID)
	require.Equal(t, "345.00", stored.Amount.String())
	require.Equal(t, "SAR", stored.Currency)
	require.Equal(t, "0.15", stored.VATRate.String())
	require.Equal(t, "45.00", stored.VATAmount.String())
	require.Equal(t, models.MethodWalletB, stored.PaymentMethod)
	require.Equal(t, models.ProviderWalletB, stored.Gateway)
	require.Equal(t, "https://app.rihla.test/done", stored.ReturnURL)
	require.Nil(t, stored.Reference)
	require.Nil(t, stored.CapturedAt)
	require.Nil(t, stored.FailureCode)
	require.WithinDuration(t, booking.HoldUntil, stored.ExpiresAt, time.Millisecond, "the attempt ends with the hold")

	again, _, err := b.s.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.Equal(t, tx.ID, again.ID)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payment_transactions"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM transaction_state_changes WHERE from_status IS NULL AND to_status = 'PENDING'"))

	// The same attempt, once its booking is paid: what it has come to, not a refusal.
	require.NoError(t, b.s.SaveCheckout(t.Context(), tx.ID, "ref-"+tx.ID.String(), ""))
	b.report(t, tx, models.EventPaymentSucceeded)
	again, _, err = b.s.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPaid, again.Status)
}

func TestOpenPaymentInParallel(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	for range 10 {
		booking := b.book(t, b.Trip, 1)

		var opened, refused, other atomic.Int32

		// Two attempts that mean to be the only one, each started several times.
		parallel(8, func(i int) {
			_, _, err := b.s.OpenPayment(t.Context(), b.attempt(booking, 1+i%2, models.MethodCreditCard), time.Now)

			switch {
			case err == nil:
				opened.Add(1)
			case models.CodeOf(err) == models.CodeBookingNotPayable:
				refused.Add(1)
			default:
				t.Log(err)
				other.Add(1)
			}
		})

		require.Zero(t, other.Load(), "a second start of the same attempt finds its row")
		require.EqualValues(t, 4, opened.Load())
		require.EqualValues(t, 4, refused.Load())
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payment_transactions WHERE booking_id = $1", booking.ID))
	}
}

func TestOpenPaymentRefusals(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	_, _, err := b.s.OpenPayment(t.Context(), models.Attempt{BookingID: uuid.New(), Number: 1, UserID: b.customer.ID, Method: models.MethodCreditCard}, time.Now)
	requireCode(t, models.CodeNotFound, err)
	_, _, err = b.s.OpenPayment(t.Context(), models.Attempt{CampaignID: uuid.New(), Number: 1, UserID: b.customer.ID, Method: models.MethodCreditCard}, time.Now)
	requireCode(t, models.CodeNotFound, err)

	t.Run("another attempt is open", func(t *testing.T) {
		t.Parallel()
		booking := b.book(t, b.Trip, 1)
		b.open(t, booking, 1)
		_, _, err := b.s.OpenPayment(t.Context(), b.attempt(booking, 2, models.MethodWalletA), time.Now)
		requireCode(t, models.CodeBookingNotPayable, err)
	})

	t.Run("the hold is over", func(t *testing.T) {
		t.Parallel()
		booking := b.book(t, b.Trip, 1)
		_, _, err := b.s.OpenPayment(t.Context(), b.attempt(booking, 1, models.MethodCreditCard), at(booking.HoldUntil))
		requireCode(t, models.CodeBookingNotPayable, err)
		_, _, err = b.s.OpenPayment(t.Context(), b.attempt(booking, 1, models.MethodBillPayment), at(booking.HoldUntil))
		requireCode(t, models.CodeBookingNotPayable, err)
		_, _, err = b.s.OpenPayment(t.Context(), b.attempt(booking, 1, models.MethodCreditCard), at(booking.HoldUntil.Add(-time.Second)))
		require.NoError(t, err)
	})

	t.Run("it is paid", func(t *testing.T) {
		t.Parallel()
		tx := b.paid(t, 1)
		_, _, err := b.s.OpenPayment(t.Context(), b.attempt(b.bookingNow(t, *tx.BookingID), 2, models.MethodCreditCard), time.Now)
		requireCode(t, models.CodeBookingNotPayable, err)
	})

	for _, status := range []models.BookingStatus{models.BookingCancelled, models.BookingPaymentFailed} {
		t.Run("it is "+string(status), func(t *testing.T) {
			t.Parallel()
			trip := b.trip(t, 5, nil)
			booking := b.book(t, trip, 1)
			b.exec(t, "UPDATE bookings SET status = $1, seats_held = false WHERE id = $2", status, booking.ID)
			b.exec(t, "UPDATE trips SET seats_taken = 0 WHERE id = $1", trip.ID)
			_, _, err := b.s.OpenPayment(t.Context(), b.attempt(booking, 1, models.MethodCreditCard), time.Now)
			requireCode(t, models.CodeBookingNotPayable, err)
		})
	}
}

func TestBillPaymentExtendsTheHold(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	booking := b.book(t, b.Trip, 1)
	b.report(t, b.open(t, booking, 1), models.EventPaymentFailed)

	bill, _, err := b.s.OpenPayment(t.Context(), b.attempt(booking, 2, models.MethodBillPayment), at(time.Now().Add(10*time.Minute)))
	require.NoError(t, err)

	until := booking.CreatedAt.Add(72 * time.Hour)
	require.WithinDuration(t, until, bill.ExpiresAt, time.Millisecond, "counted from the booking")
	require.WithinDuration(t, until, b.bookingNow(t, booking.ID).HoldUntil, time.Millisecond)

	_, err = b.s.EndPayment(t.Context(), bill.ID, models.FailureCancelled, "", time.Now())
	require.NoError(t, err)

	later := time.Now().Add(time.Hour)
	card, _, err := b.s.OpenPayment(t.Context(), b.attempt(booking, 3, models.MethodCreditCard), at(later))
	require.NoError(t, err, "the bill's hold lasts")
	require.WithinDuration(t, later.Add(30*time.Minute), card.ExpiresAt, time.Millisecond, "a card has a card's hold")
	require.WithinDuration(t, card.ExpiresAt, b.bookingNow(t, booking.ID).HoldUntil, 0)

	_, err = b.s.EndPayment(t.Context(), card.ID, models.FailureCancelled, "", later)
	require.NoError(t, err)

	again, _, err := b.s.OpenPayment(t.Context(), b.attempt(booking, 4, models.MethodCreditCard), at(later.Add(10*time.Minute)))
	require.NoError(t, err)
	require.WithinDuration(t, card.ExpiresAt, again.ExpiresAt, 0, "trying again does not hold the seats for longer")
}

func TestOpenCampaignPayment(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	today := models.DateIn(time.Now())
	campaign := b.campaign(t, today.AddDays(1), today.AddDays(3))

	tx := b.transaction(t, b.openCampaign(t, campaign, 1).ID)
	require.Equal(t, models.CampaignAttemptID(campaign, 1), tx.ID)
	require.Equal(t, "1200.00", tx.Amount.String())
	require.Equal(t, "200.00", tx.VATAmount.String())
	require.Equal(t, "0.20", tx.VATRate.String())
	require.Equal(t, campaign, *tx.AdCampaignID)
	require.WithinDuration(t, time.Now().Add(30*time.Minute), tx.ExpiresAt, time.Minute)

	_, _, err := b.s.OpenPayment(t.Context(), models.Attempt{CampaignID: campaign, Number: 2, UserID: tx.UserID, Method: models.MethodCreditCard}, time.Now)
	requireCode(t, models.CodeCampaignNotPayable, err)

	b.report(t, tx, models.EventPaymentFailed)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM ad_campaigns WHERE status = 'PAYMENT_FAILED'"))

	second := b.openCampaign(t, campaign, 2)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM ad_campaigns WHERE status = 'PENDING_PAYMENT'"), "a failed campaign can be paid again")
	b.report(t, second, models.EventPaymentSucceeded)

	_, _, err = b.s.OpenPayment(t.Context(), models.Attempt{CampaignID: campaign, Number: 3, UserID: tx.UserID, Method: models.MethodCreditCard}, time.Now)
	requireCode(t, models.CodeCampaignNotPayable, err)

	gone := b.campaign(t, today, today)
	b.exec(t, "UPDATE ad_campaigns SET deleted_at = now() WHERE id = $1", gone)
	_, _, err = b.s.OpenPayment(t.Context(), models.Attempt{CampaignID: gone, Number: 1, UserID: tx.UserID, Method: models.MethodCreditCard}, time.Now)
	requireCode(t, models.CodeNotFound, err)
	_, err = b.s.PayableCampaign(t.Context(), gone, time.Now())
	requireCode(t, models.CodeNotFound, err)
}

func TestPayable(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	booking := b.book(t, b.Trip, 1)

	payable := func() store.Payable {
		p, err := b.s.PayableBooking(t.Context(), booking.ID, time.Now())
		require.NoError(t, err)
		require.Equal(t, b.customer.ID, p.OwnerID)
		require.Equal(t, b.Provider.ID, p.ProviderID)

		return p
	}

	p := payable()
	require.Nil(t, p.Open)
	require.Equal(t, 1, p.Next)
	require.NoError(t, p.Err)

	tx := b.open(t, booking, 1)
	p = payable()
	require.Equal(t, tx.ID, p.Open.ID)
	require.Equal(t, 1, p.Next, "an open attempt has not ended")

	b.report(t, tx, models.EventPaymentFailed)
	p = payable()
	require.Nil(t, p.Open)
	require.Equal(t, 2, p.Next)
	require.NoError(t, p.Err, "the hold lasts: the customer may try again")

	late, err := b.s.PayableBooking(t.Context(), booking.ID, booking.HoldUntil)
	require.NoError(t, err)
	requireCode(t, models.CodeBookingNotPayable, late.Err)

	b.report(t, b.open(t, booking, 2), models.EventPaymentSucceeded)
	requireCode(t, models.CodeBookingNotPayable, payable().Err)

	_, err = b.s.PayableBooking(t.Context(), uuid.New(), time.Now())
	requireCode(t, models.CodeNotFound, err)

	today := models.DateIn(time.Now())
	c, err := b.s.PayableCampaign(t.Context(), b.campaign(t, today, today), time.Now())
	require.NoError(t, err)
	require.NoError(t, c.Err)
	require.Equal(t, b.Provider.ID, c.ProviderID)
	require.Equal(t, 1, c.Next)
}

func TestSaveCheckout(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.open(t, b.book(t, b.Trip, 1), 1)

	require.NoError(t, b.s.SaveCheckout(t.Context(), tx.ID, "other", "https://gateway.test/other"))

	got := b.transaction(t, tx.ID)
	require.Equal(t, "ref-"+tx.ID.String(), *got.Reference, "the first reference stays")
	require.Equal(t, "https://gateway.test/"+tx.ID.String(), *got.CheckoutURL)

	text, err := b.s.CheckoutText(t.Context(), &got)
	require.NoError(t, err)
	require.Equal(t, b.Trip.Title+" ("+b.bookingNow(t, *tx.BookingID).Number+")", text)
}
