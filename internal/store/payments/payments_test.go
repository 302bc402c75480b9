package payments_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

func TestOpenPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 3)

	a := b.Attempt(booking, 1, models.MethodWalletB)
	require.NoError(t, b.Store.Bookings.SetReturnURL(t.Context(), a, "https://app.rihla.test/done", "https://api.rihla.test"))

	tx, _, err := b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)

	stored := b.Transaction(t, tx.ID)
	require.Equal(t, models.BookingAttemptID(booking.ID, 1), stored.ID)
	require.Equal(t, models.KindPayment, stored.Kind)
	require.Equal(t, models.TransactionPending, stored.Status)
	require.Equal(t, booking.ID, *stored.BookingID)
	require.Nil(t, stored.AdCampaignID)
	require.Equal(t, b.Customer.ID, stored.UserID)
	require.Equal(t, b.Provider.ID, stored.ProviderID)
	require.Equal(t, "345.00", stored.Amount.String())
	require.Equal(t, "SAR", stored.Currency)
	require.Equal(t, "0.15", stored.VATRate.String())
	require.Equal(t, "45.00", stored.VATAmount.String())
	require.Equal(t, models.MethodWalletB, stored.PaymentMethod)
	require.Equal(t, models.GatewayWalletB, stored.Gateway)
	require.Equal(t, "https://app.rihla.test/done", stored.ReturnURL)
	require.Nil(t, stored.Reference)
	require.Nil(t, stored.CapturedAt)
	require.Nil(t, stored.FailureCode)
	require.WithinDuration(t, booking.HoldUntil, stored.ExpiresAt, time.Millisecond, "the attempt ends with the hold")

	again, _, err := b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.Equal(t, tx.ID, again.ID)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM payment_transactions"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM transaction_state_changes WHERE from_status IS NULL AND to_status = 'PENDING'"))

	// The same attempt, once its booking is paid: what it has come to, not a refusal.
	require.NoError(t, b.Store.Payments.SaveCheckout(t.Context(), tx.ID, tx.Channel, payments.OpenedCheckout{
		Reference: "ref-" + tx.ID.String(), URL: "",
	}))
	b.Report(t, tx, models.EventPaymentSucceeded)
	again, _, err = b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPaid, again.Status)
}

func TestOpenPaymentInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 10 {
		booking := b.Book(t, b.Trip, 1)

		var opened, refused, other atomic.Int32

		// Two attempts that mean to be the only one, each started several times.
		bookstest.Parallel(8, func(i int) {
			_, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 1+i%2, models.MethodCreditCard), time.Now)

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
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM payment_transactions WHERE booking_id = $1", booking.ID))
	}
}

func TestOpenPaymentRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)

	_, _, err := b.Store.Payments.OpenPayment(t.Context(), models.Attempt{BookingID: uuid.New(), Number: 1, UserID: b.Customer.ID, Method: models.MethodCreditCard}, time.Now)
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, _, err = b.Store.Payments.OpenPayment(t.Context(), models.Attempt{CampaignID: uuid.New(), Number: 1, UserID: b.Customer.ID, Method: models.MethodCreditCard}, time.Now)
	bookstest.RequireCode(t, models.CodeNotFound, err)

	t.Run("another attempt is open", func(t *testing.T) {
		t.Parallel()
		booking := b.Book(t, b.Trip, 1)
		b.Open(t, booking, 1)
		_, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 2, models.MethodWalletA), time.Now)
		bookstest.RequireCode(t, models.CodeBookingNotPayable, err)
	})

	t.Run("the hold is over", func(t *testing.T) {
		t.Parallel()
		booking := b.Book(t, b.Trip, 1)
		_, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 1, models.MethodCreditCard), at(booking.HoldUntil))
		bookstest.RequireCode(t, models.CodeBookingNotPayable, err)
		_, _, err = b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 1, models.MethodBillPayment), at(booking.HoldUntil))
		bookstest.RequireCode(t, models.CodeBookingNotPayable, err)
		_, _, err = b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 1, models.MethodCreditCard), at(booking.HoldUntil.Add(-time.Second)))
		require.NoError(t, err)
	})

	t.Run("it is paid", func(t *testing.T) {
		t.Parallel()
		tx := b.Paid(t, 1)
		_, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(b.BookingNow(t, *tx.BookingID), 2, models.MethodCreditCard), time.Now)
		bookstest.RequireCode(t, models.CodeBookingNotPayable, err)
	})

	for _, status := range []models.BookingStatus{models.BookingCancelled, models.BookingPaymentFailed} {
		t.Run("it is "+string(status), func(t *testing.T) {
			t.Parallel()
			trip := b.InsertTrip(t, 5, nil)
			booking := b.Book(t, trip, 1)
			b.Exec(t, "UPDATE bookings SET status = $1, seats_held = false WHERE id = $2", status, booking.ID)
			b.Exec(t, "UPDATE trips SET seats_taken = 0 WHERE id = $1", trip.ID)
			_, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 1, models.MethodCreditCard), time.Now)
			bookstest.RequireCode(t, models.CodeBookingNotPayable, err)
		})
	}
}

func TestBillPaymentExtendsTheHold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	b.Report(t, b.Open(t, booking, 1), models.EventPaymentFailed)

	bill, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 2, models.MethodBillPayment), at(time.Now().Add(10*time.Minute)))
	require.NoError(t, err)

	until := booking.CreatedAt.Add(72 * time.Hour)
	require.WithinDuration(t, until, bill.ExpiresAt, time.Millisecond, "counted from the booking")
	require.WithinDuration(t, until, b.BookingNow(t, booking.ID).HoldUntil, time.Millisecond)

	_, err = b.Store.Payments.EndPayment(t.Context(), bill.ID, models.FailureCancelled, "", time.Now())
	require.NoError(t, err)

	later := time.Now().Add(time.Hour)
	card, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 3, models.MethodCreditCard), at(later))
	require.NoError(t, err, "the bill's hold lasts")
	require.WithinDuration(t, later.Add(30*time.Minute), card.ExpiresAt, time.Millisecond, "a card has a card's hold")
	require.WithinDuration(t, card.ExpiresAt, b.BookingNow(t, booking.ID).HoldUntil, 0)

	_, err = b.Store.Payments.EndPayment(t.Context(), card.ID, models.FailureCancelled, "", later)
	require.NoError(t, err)

	again, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 4, models.MethodCreditCard), at(later.Add(10*time.Minute)))
	require.NoError(t, err)
	require.WithinDuration(t, card.ExpiresAt, again.ExpiresAt, 0, "trying again does not hold the seats for longer")
}

func TestOpenCampaignPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	campaign := b.Campaign(t, today.AddDays(1), today.AddDays(3))

	tx := b.Transaction(t, b.OpenCampaign(t, campaign, 1).ID)
	require.Equal(t, models.CampaignAttemptID(campaign, 1), tx.ID)
	require.Equal(t, "1200.00", tx.Amount.String())
	require.Equal(t, "200.00", tx.VATAmount.String())
	require.Equal(t, "0.20", tx.VATRate.String())
	require.Equal(t, campaign, *tx.AdCampaignID)
	require.WithinDuration(t, time.Now().Add(30*time.Minute), tx.ExpiresAt, time.Minute)

	_, _, err := b.Store.Payments.OpenPayment(t.Context(), models.Attempt{CampaignID: campaign, Number: 2, UserID: tx.UserID, Method: models.MethodCreditCard}, time.Now)
	bookstest.RequireCode(t, models.CodeCampaignNotPayable, err)

	b.Report(t, tx, models.EventPaymentFailed)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ad_campaigns WHERE status = 'PAYMENT_FAILED'"))

	second := b.OpenCampaign(t, campaign, 2)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ad_campaigns WHERE status = 'PENDING_PAYMENT'"), "a failed campaign can be paid again")
	b.Report(t, second, models.EventPaymentSucceeded)

	_, _, err = b.Store.Payments.OpenPayment(t.Context(), models.Attempt{CampaignID: campaign, Number: 3, UserID: tx.UserID, Method: models.MethodCreditCard}, time.Now)
	bookstest.RequireCode(t, models.CodeCampaignNotPayable, err)

	gone := b.Campaign(t, today, today)
	b.Exec(t, "UPDATE ad_campaigns SET deleted_at = now() WHERE id = $1", gone)
	_, _, err = b.Store.Payments.OpenPayment(t.Context(), models.Attempt{CampaignID: gone, Number: 1, UserID: tx.UserID, Method: models.MethodCreditCard}, time.Now)
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Payments.PayableCampaign(t.Context(), gone, time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// The time of a campaign's attempt begins by the database's clock, whatever that of the worker says which opens it.
func TestCampaignAttemptByAWrongClock(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())

	for _, wrong := range []time.Duration{-7 * time.Hour, 7 * time.Hour} {
		campaign := b.Campaign(t, today.AddDays(1), today.AddDays(3))
		a := models.Attempt{CampaignID: campaign, Number: 1, UserID: b.Customer.ID, Method: models.MethodCreditCard}

		tx, _, err := b.Store.Payments.OpenPayment(t.Context(), a, func() time.Time { return time.Now().Add(wrong) })
		require.NoError(t, err)
		require.Equal(t, 30*time.Minute, tx.ExpiresAt.Sub(tx.CreatedAt))
	}
}

func TestPayable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)

	payable := func() payments.Payable {
		p, err := b.Store.Payments.PayableBooking(t.Context(), booking.ID, time.Now())
		require.NoError(t, err)
		require.Equal(t, b.Customer.ID, p.OwnerID)
		require.Equal(t, b.Provider.ID, p.ProviderID)

		return p
	}

	p := payable()
	require.Nil(t, p.Open)
	require.Equal(t, 1, p.Next)
	require.NoError(t, p.Err)

	tx := b.Open(t, booking, 1)
	p = payable()
	require.Equal(t, tx.ID, p.Open.ID)
	require.Equal(t, 1, p.Next, "an open attempt has not ended")

	b.Report(t, tx, models.EventPaymentFailed)
	p = payable()
	require.Nil(t, p.Open)
	require.Equal(t, 2, p.Next)
	require.NoError(t, p.Err, "the hold lasts: the customer may try again")

	late, err := b.Store.Payments.PayableBooking(t.Context(), booking.ID, booking.HoldUntil)
	require.NoError(t, err)
	bookstest.RequireCode(t, models.CodeBookingNotPayable, late.Err)

	b.Report(t, b.Open(t, booking, 2), models.EventPaymentSucceeded)
	bookstest.RequireCode(t, models.CodeBookingNotPayable, payable().Err)

	_, err = b.Store.Payments.PayableBooking(t.Context(), uuid.New(), time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)

	today := models.DateIn(time.Now())
	c, err := b.Store.Payments.PayableCampaign(t.Context(), b.Campaign(t, today, today), time.Now())
	require.NoError(t, err)
	require.NoError(t, c.Err)
	require.Equal(t, b.Provider.ID, c.ProviderID)
	require.Equal(t, 1, c.Next)
}

func TestSaveCheckout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)

	require.NoError(t, b.Store.Payments.SaveCheckout(t.Context(), tx.ID, tx.Channel, payments.OpenedCheckout{
		Reference: "other", URL: "https://gateway.test/other",
	}))

	got := b.Transaction(t, tx.ID)
	require.Equal(t, "ref-"+tx.ID.String(), *got.Reference, "the first reference stays")
	require.Equal(t, "https://gateway.test/"+tx.ID.String(), *got.CheckoutURL)

	bought, err := b.Store.Payments.Purchase(t.Context(), &got)
	require.NoError(t, err)
	require.Equal(t, b.Trip.Title+" ("+b.BookingNow(t, *tx.BookingID).Number+")", bought.Name())
	require.Equal(t, tx.Purchase, bought)

	booking := b.BookingNow(t, *tx.BookingID)
	name, email, err := b.Store.Payments.Payer(t.Context(), &got)
	require.NoError(t, err)
	require.Equal(t, []string{booking.ContactName, booking.ContactEmail}, []string{name, email})

	campaign := b.OpenCampaign(t, b.Campaign(t, models.DateIn(time.Now()), models.DateIn(time.Now()).AddDays(3)), 1)
	name, email, err = b.Store.Payments.Payer(t.Context(), &campaign)
	require.NoError(t, err)
	require.NotEmpty(t, name)
	require.Contains(t, email, "@", "of the account that advertises")
}
