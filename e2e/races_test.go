package e2e_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// racingReplacements replaces an open attempt 8 times at once. However it ends, the customer can pay one checkout, once.
func racingReplacements(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)

	for range 3 {
		b := customer.Book(1)
		body := map[string]any{"payment_method": models.MethodCreditCard, "replace": true}

		opened := map[uuid.UUID]bool{}

		for _, a := range atOnce(8, func(int) harness.Answer { return post(customer, intentPath(b.ID), body, uuid.NewString()) }) {
			require.Contains(t, []int{http.StatusOK, http.StatusCreated}, a.Status, "%s", a.Body)

			if a.Status == http.StatusCreated {
				var next transaction

				require.NoError(t, a.Data(&next))
				require.False(t, opened[next.ID], "two requests have opened one attempt")
				opened[next.ID] = true
			}
		}

		require.NotEmpty(t, opened)
		require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE booking_id = $1 AND status = 'PENDING'", b.ID))

		attempts, open := map[string]bool{}, 0

		for _, c := range s.GatewayLedger().Checkouts {
			if s.Count("SELECT count(*) FROM payment_transactions WHERE id = $1 AND booking_id = $2", c.MerchantReference, b.ID) == 0 {
				continue
			}

			require.False(t, attempts[c.MerchantReference], "two checkouts for one attempt")

			attempts[c.MerchantReference] = true

			if c.Status == "open" {
				open++
			}
		}

		require.Equal(t, 1, open, "checkouts that can be paid")
		require.NoError(t, s.Pay(*statusOf(t, customer, b.ID).CheckoutURL, "succeed"))
		require.Equal(t, models.BookingConfirmed, customer.Await(b.ID).BookingStatus)
	}
}

// payingWhileReplacing lets the customer pay the attempt that is being replaced. The money is never taken twice, and
// never lost: it buys the booking.
func payingWhileReplacing(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)

	for range 6 {
		b := customer.Book(1)
		body := map[string]any{"payment_method": models.MethodCreditCard, "replace": true}

		answers := atOnce(2, func(i int) harness.Answer {
			if i == 0 {
				if err := s.Pay(*b.Payment.CheckoutURL, "succeed"); err != nil {
					return harness.Answer{Body: []byte(err.Error())}
				}

				return harness.Answer{Status: http.StatusOK}
			}

			return post(customer, intentPath(b.ID), body, uuid.NewString())
		})
		require.Equal(t, http.StatusOK, answers[0].Status, "%s", answers[0].Body)

		if answers[1].Status == http.StatusCreated { // the replacement was first: it is what can be paid
			var next transaction

			require.NoError(t, answers[1].Data(&next))
			require.Equal(t, models.BookingAttemptID(b.ID, 2), next.ID)
			require.NoError(t, s.Pay(*next.CheckoutURL, "succeed"))
		} else {
			refused(t, answers[1], http.StatusConflict, models.CodeBookingNotPayable)
		}

		require.Eventually(t, func() bool { return customer.Await(b.ID).BookingStatus == models.BookingConfirmed }, patience, refundPoll)
		require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE booking_id = $1 AND captured_at IS NOT NULL", b.ID))
		require.Equal(t, 1, s.Count("SELECT count(*) FROM financial_records WHERE booking_id = $1", b.ID))
	}
}

// payoutAndRefund marks an entry as paid out while it is being refunded: whichever is first, the books balance.
func payoutAndRefund(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)

	for range 6 {
		b := customer.BookPaid(1)
		line := entriesOf(t, s, b.ID)[0]

		answers := atOnce(4, func(i int) harness.Answer {
			if i%2 == 0 {
				return post(finance, markPath(line.ID), map[string]any{"payout_reference": "TRF-1"}, uuid.NewString())
			}

			return post(finance, refundPath(b.ID), partly("20.00"), uuid.NewString())
		})

		for i, a := range answers {
			if i%2 == 1 {
				require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, decodedAny[refund](t, a).ID).Status)
			} else if a.Status != http.StatusOK {
				refused(t, a, http.StatusConflict, models.CodeRecordNotTransferable)
			}
		}

		requireRefunded(t, s, b, models.MustMoney("40.00"), 2)
		requireEntriesAddUp(t, s, b)

		// The paid-out share of the refunded part is owed back, and nothing else.
		require.Equal(t, 1, s.Count(`
			SELECT (coalesce(sum(net_amount) FILTER (WHERE kind = 'CLAWBACK'), 0) =
				-coalesce(sum(net_amount) FILTER (WHERE kind = 'SALE' AND balance_status = 'REFUNDED' AND transferred_at IS NOT NULL), 0))::int
			FROM financial_records WHERE booking_id = $1`, b.ID))
	}
}

// decodedAny reads the data of an answer of success.
func decodedAny[T any](t *testing.T, a harness.Answer) T {
	t.Helper()
	require.Less(t, a.Status, http.StatusMultipleChoices, "%s", a.Body)

	return decoded[T](t, a.Status, a)
}

func racingRegistrations(t *testing.T, s *harness.Stack) {
	t.Helper()

	account := map[string]string{
		"name": "Racer", "email": "racer." + uuid.NewString() + "@rihla.test", "phone": "+966512345678", "password": "a-long-password",
	}
	won := 0

	for _, a := range atOnce(8, func(int) harness.Answer { return post(s.Anybody(), "/api/v1/auth/register", account, uuid.NewString()) }) {
		if a.Status == http.StatusCreated {
			won++

			continue
		}

		refused(t, a, http.StatusConflict, models.CodeEmailAlreadyExists)
	}

	require.Equal(t, 1, won)
}

// racingPlates creates the bus of one plate 20 times at once, 20 times over: one is made, and
// the other requests get the reason.
func racingPlates(t *testing.T, s *harness.Stack) {
	t.Helper()

	callers := []*harness.Caller{s.As(models.RoleProviderStaff), s.As(models.RoleProviderAdmin)}

	for range 20 {
		plate := uuid.NewString()[:12]
		body := map[string]any{
			"plate_number": plate, "model": "Coach", "capacity": 49, "driver": map[string]string{"name": "Driver"}, "status": "ACTIVE",
		}
		won := 0

		for _, a := range atOnce(20, func(i int) harness.Answer {
			return post(callers[i%len(callers)], "/api/v1/provider/buses", body, uuid.NewString())
		}) {
			if a.Status == http.StatusCreated {
				won++

				continue
			}

			refused(t, a, http.StatusConflict, models.CodeBusPlateAlreadyExists)
		}

		require.Equal(t, 1, won)
		require.Equal(t, 1, s.Count("SELECT count(*) FROM buses WHERE plate_number = $1", plate))
	}
}

// givenUp cancels on the gateway's page: the booking stays, and can be paid by a new attempt.
func givenUp(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "cancel"))

	status := customer.Await(b.ID)
	require.Equal(t, models.TransactionFailed, status.PaymentStatus)
	require.Equal(t, models.BookingPendingPayment, status.BookingStatus)

	next := decoded[transaction](t, http.StatusCreated, customer.Post(intentPath(b.ID), byCard()))
	require.NoError(t, s.Pay(*next.CheckoutURL, "succeed"))
	require.Equal(t, models.BookingConfirmed, customer.Await(b.ID).BookingStatus)
}
