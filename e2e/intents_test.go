package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// transaction is what the tests need of a PaymentTransaction.
type transaction struct {
	ID            uuid.UUID                `json:"id"`
	Kind          models.TransactionKind   `json:"kind"`
	Reference     *string                  `json:"reference"`
	BookingID     *uuid.UUID               `json:"booking_id"`
	CampaignID    *uuid.UUID               `json:"ad_campaign_id"`
	Amount        models.Money             `json:"amount"`
	VATRate       models.Rate              `json:"vat_rate"`
	VATAmount     models.Money             `json:"vat_amount"`
	Method        models.PaymentMethod     `json:"payment_method"`
	Provider      models.Gateway           `json:"provider"`
	Status        models.TransactionStatus `json:"status"`
	CheckoutURL   *string                  `json:"checkout_url"`
	ExpiresAt     time.Time                `json:"expires_at"`
	FailureCode   *models.FailureCode      `json:"failure_code"`
	FailureReason *string                  `json:"failure_reason"`
}

func intentPath(booking uuid.UUID) string {
	return "/api/v1/payments/booking/" + booking.String() + "/intent"
}

func byCard() map[string]any { return map[string]any{"payment_method": models.MethodCreditCard} }

// transactionByID is how finance sees an attempt.
func transactionByID(t *testing.T, s *harness.Stack, id uuid.UUID) transaction {
	t.Helper()

	return decoded[transaction](t, http.StatusOK, s.As(models.RoleFinanceAdmin).Get("/api/v1/admin/payment-transactions/"+id.String()))
}

// methodsAndChannels pays by every method: each has its gateway, and its webhooks come in by a channel of their own.
func methodsAndChannels(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)

	for method, gateway := range map[models.PaymentMethod]models.Gateway{
		models.MethodCreditCard: models.GatewayA, models.MethodDebitNetwork: models.GatewayA,
		models.MethodWalletA: models.GatewayA, models.MethodBillPayment: models.GatewayA,
		models.MethodWalletB: models.GatewayWalletB,
	} {
		body := s.BookingRequest(1)
		body["payment_method"] = method

		b := decoded[harness.Booking](t, http.StatusCreated, customer.Post(bookingsPath, body))
		attempt := transactionByID(t, s, b.Payment.TransactionID)
		require.Equal(t, gateway, attempt.Provider)
		require.Equal(t, method, attempt.Method)

		hold := 30 * time.Minute
		if method == models.MethodBillPayment {
			hold = 72 * time.Hour
		}

		require.WithinDuration(t, time.Now().Add(hold), attempt.ExpiresAt, time.Minute, method)

		// An event by another channel, well signed, is about nothing that this channel knows.
		for _, channel := range models.Channels() {
			if channel != method.Channel() {
				a := deliver(s, channel, uuid.NewString(), eventOf(b, models.EventPaymentSucceeded))
				refused(t, a, http.StatusNotFound, models.CodeNotFound)
			}
		}

		require.Equal(t, models.TransactionPending, transactionByID(t, s, b.Payment.TransactionID).Status)
		require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
		require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
		require.Equal(t, 1, s.Count("SELECT count(*) FROM webhook_events WHERE transaction_id = $1 AND channel = $2",
			b.Payment.TransactionID, method.Channel()))
	}
}

func intentAgain(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)

	for _, method := range []models.PaymentMethod{models.MethodCreditCard, models.MethodWalletB} {
		again := decoded[transaction](t, http.StatusOK, customer.Post(intentPath(b.ID), map[string]any{"payment_method": method}))
		require.Equal(t, b.Payment.TransactionID, again.ID)
		require.Equal(t, *b.Payment.CheckoutURL, *again.CheckoutURL)
		require.Equal(t, models.MethodCreditCard, again.Method, "the open attempt, whatever its method")
		require.Equal(t, models.TransactionPending, again.Status)
	}

	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	customer.Await(b.ID)

	for _, replace := range []bool{false, true} {
		body := byCard()
		body["replace"] = replace
		refused(t, customer.Post(intentPath(b.ID), body), http.StatusConflict, models.CodeBookingNotPayable)
	}
}

func intentReplaced(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)

	a := customer.Post(intentPath(b.ID), map[string]any{"payment_method": models.MethodWalletB, "replace": true})
	next := decoded[transaction](t, http.StatusCreated, a)
	require.NotEmpty(t, a.Header.Get("Location"))
	require.Equal(t, models.BookingAttemptID(b.ID, 2), next.ID)
	require.Equal(t, models.GatewayWalletB, next.Provider)

	old := transactionByID(t, s, b.Payment.TransactionID)
	require.Equal(t, models.TransactionFailed, old.Status)
	require.Equal(t, models.FailureCancelled, *old.FailureCode)
	require.Nil(t, old.CheckoutURL)

	for _, c := range s.GatewayLedger().Checkouts {
		if c.ID == *b.Payment.Reference {
			require.Equal(t, "canceled", c.Status, "the customer could pay twice")
		}
	}

	require.NoError(t, s.Pay(*next.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
}

func intentOfOthers(t *testing.T, s *harness.Stack) {
	t.Helper()

	b := s.As(models.RoleEndUser).Book(1)

	// Reading any booking is not paying for it (rules: payments.who).
	for _, role := range []models.Role{models.RoleProviderAdmin, models.RoleProviderStaff, models.RoleSupportAgent, models.RoleFinanceAdmin} {
		refused(t, s.As(role).Post(intentPath(b.ID), byCard()), http.StatusNotFound, models.CodeNotFound)
	}

	refused(t, s.For(t).As(models.RoleEndUser).Post(intentPath(b.ID), byCard()), http.StatusNotFound, models.CodeNotFound)

	for _, role := range []models.Role{models.RoleAdmin, models.RoleSuperAdmin} {
		require.Equal(t, b.Payment.TransactionID, decoded[transaction](t, http.StatusOK, s.As(role).Post(intentPath(b.ID), byCard())).ID)
	}

	_, err := s.DB.ExecContext(t.Context(), "UPDATE bookings SET status = 'CANCELLED', seats_held = false WHERE id = $1", b.ID)
	require.NoError(t, err)
	changeTrip(t, s, s.World.Trip.ID, "seats_taken = 0")
	refused(t, s.As(models.RoleEndUser).Post(intentPath(b.ID), byCard()), http.StatusConflict, models.CodeBookingNotPayable)
}

func intentAfterDecline(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "decline"))

	status := customer.Await(b.ID)
	require.Equal(t, models.TransactionFailed, status.PaymentStatus)
	require.Equal(t, models.FailureDeclined, *status.FailureCode)
	require.Equal(t, models.BookingPendingPayment, status.BookingStatus, "the seats are held: the customer may try again")

	next := decoded[transaction](t, http.StatusCreated, customer.Post(intentPath(b.ID), byCard()))
	require.Equal(t, models.BookingAttemptID(b.ID, 2), next.ID)
	require.Equal(t, models.TransactionPending, statusOf(t, customer, b.ID).PaymentStatus, "of the newest attempt")
	require.NoError(t, s.Pay(*next.CheckoutURL, "succeed"))

	status = customer.Await(b.ID)
	require.Equal(t, models.TransactionPaid, status.PaymentStatus)
	require.Equal(t, models.BookingConfirmed, status.BookingStatus)

	first := transactionByID(t, s, b.Payment.TransactionID)
	require.Equal(t, models.TransactionFailed, first.Status)
	require.NotEmpty(t, *first.FailureReason)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM financial_records WHERE booking_id = $1", b.ID))
}

// racingIntents asks for a new attempt 8 times at once: one attempt, one checkout at the gateway, and one answer that says it
// is new.
func racingIntents(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)

	for range intentRounds {
		b := customer.Book(1)
		require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "decline"))
		customer.Await(b.ID)

		raceIntents(t, s, customer, intentPath(b.ID), models.BookingAttemptID(b.ID, 2))
		require.Equal(t, 2, s.Count("SELECT count(*) FROM payment_transactions WHERE booking_id = $1", b.ID))
	}
}

// racingCampaignIntents is racingIntents for the first attempt of a campaign.
func racingCampaignIntents(t *testing.T, s *harness.Stack) {
	t.Helper()

	for range intentRounds {
		campaign := s.NewCampaign("1000.00", 3)

		raceIntents(t, s, s.As(models.RoleProviderStaff), campaignIntentPath(campaign), models.CampaignAttemptID(campaign, 1))
		require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE ad_campaign_id = $1", campaign))
	}
}

const intentRounds = 15

// raceIntents is one round: every answer names the one attempt, and the Idempotency-Key of the one that opened it goes on
// saying so.
func raceIntents(t *testing.T, s *harness.Stack, caller *harness.Caller, path string, attempt uuid.UUID) {
	t.Helper()

	const racers = 8

	keys := make([]string, racers)
	for i := range keys {
		keys[i] = uuid.NewString()
	}

	opened := 0

	for i, a := range atOnce(racers, func(i int) harness.Answer { return post(caller, path, byCard(), keys[i]) }) {
		require.Contains(t, []int{http.StatusOK, http.StatusCreated}, a.Status, "%s", a.Body)

		var got transaction

		require.NoError(t, a.Data(&got))
		require.Equal(t, attempt, got.ID)
		require.NotNil(t, got.CheckoutURL)
		require.Equal(t, a.Status == http.StatusCreated, a.Header.Get("Location") != "", "only what is new has a place")

		if a.Status == http.StatusCreated {
			opened++
		}

		require.Equal(t, a.Status, post(caller, path, byCard(), keys[i]).Status)
	}

	require.Equal(t, 1, opened, "one has opened it, the others have found it")

	checkouts := 0

	for _, c := range s.GatewayLedger().Checkouts {
		if c.MerchantReference == attempt.String() {
			checkouts++
		}
	}

	require.Equal(t, 1, checkouts)
}
