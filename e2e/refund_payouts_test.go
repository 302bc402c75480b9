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

func confirmation(reference string) map[string]any {
	return map[string]any{"payout_reference": reference}
}

func rejection(reason string) map[string]any { return map[string]any{"reason": reason} }

func refundByID(t *testing.T, s *harness.Stack, id uuid.UUID) refund {
	t.Helper()

	return decoded[refund](t, http.StatusOK, s.As(models.RoleSupportAgent).Get("/api/v1/admin/refunds/"+id.String()))
}

// askedByHand has finance staff ask for the refund of a bill.
func askedByHand(t *testing.T, s *harness.Stack, b harness.Booking, body any) refund {
	t.Helper()

	began := time.Now()
	a := s.As(models.RoleFinanceAdmin).Post(refundPath(b.ID), body)
	r := decoded[refund](t, http.StatusAccepted, a)
	require.Less(t, time.Since(began), harness.RefundWait, "the requester does not wait for people")
	require.Equal(t, "/api/v1/admin/refunds/"+r.ID.String(), a.Header.Get("Location"))
	require.Equal(t, models.RefundPending, r.Status)
	require.Equal(t, models.RefundByHand, r.Channel)
	require.True(t, r.NeedsPayout)

	return r
}

// waitingFor lists what finance staff have to pay out of a booking.
func waitingFor(t *testing.T, s *harness.Stack, booking uuid.UUID) int {
	t.Helper()

	return len(decoded[[]refund](t, http.StatusOK,
		s.As(models.RoleFinanceAdmin).Get("/api/v1/admin/refunds?needs_payout=true&booking_id="+booking.String())))
}

// payoutByHand gives a bill back in two parts, which another user than the requester confirms.
func payoutByHand(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance, admin := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)
	b := customer.BookBilled(1)
	r := askedByHand(t, s, b, partly("15.00"))

	require.Equal(t, 1, waitingFor(t, s, b.ID))
	require.Len(t, decoded[[]refund](t, http.StatusOK, finance.Get("/api/v1/admin/refunds?channel=MANUAL&booking_id="+b.ID.String())), 1)
	require.Empty(t, decoded[[]refund](t, http.StatusOK, finance.Get("/api/v1/admin/refunds?channel=GATEWAY&booking_id="+b.ID.String())))
	refused(t, finance.Get("/api/v1/admin/refunds?needs_payout=perhaps"), http.StatusUnprocessableEntity, models.CodeValidation)

	confirm := payoutPath(r.ID, "confirm")
	refused(t, finance.Post(confirm, confirmation("TRF-1")), http.StatusForbidden, models.CodeForbidden)
	refused(t, customer.Post(confirm, confirmation("TRF-1")), http.StatusForbidden, models.CodeForbidden)
	refused(t, admin.Post(confirm, map[string]any{}), http.StatusUnprocessableEntity, models.CodeValidation)
	require.Contains(t, errorDetails(t, admin.Post(confirm, confirmation(" \t"))), "payout_reference")
	require.Contains(t, errorDetails(t, admin.Post(payoutPath(r.ID, "reject"), rejection(" "))), "reason")

	tomorrow := confirmation("TRF-1")
	tomorrow["paid_out_on"] = models.DateIn(time.Now()).AddDays(1).String()
	require.Contains(t, errorDetails(t, admin.Post(confirm, tomorrow)), "paid_out_on")

	body := confirmation("TRF-1")
	body["note"] = "to the customer's bank"
	a := admin.Post(confirm, body)
	done := decoded[refund](t, http.StatusOK, a)
	require.Equal(t, models.RefundSucceeded, done.Status)
	require.False(t, done.NeedsPayout)
	require.Equal(t, "TRF-1", *done.PayoutReference)
	require.Equal(t, models.DateIn(time.Now()).String(), *done.PaidOutOn)
	require.Equal(t, "to the customer's bank", *done.PayoutNote)
	require.Equal(t, s.World.Users[models.RoleAdmin].ID, *done.DecidedBy)
	require.NotNil(t, done.DecidedAt)
	require.Equal(t, done, refundByID(t, s, r.ID))

	require.Equal(t, string(a.Body), string(admin.Post(confirm, body).Body), "the same again")
	refused(t, admin.Post(confirm, confirmation("TRF-2")), http.StatusConflict, models.CodeInvalidState)
	refused(t, admin.Post(payoutPath(r.ID, "reject"), rejection("no")), http.StatusConflict, models.CodeInvalidState)

	require.Equal(t, 0, waitingFor(t, s, b.ID))
	requireEntriesAddUp(t, s, b)
	require.Equal(t, models.TransactionPartialRefund, statusOf(t, customer, b.ID).PaymentStatus)

	rest := askedByHand(t, s, b, fully())
	refused(t, finance.Post(refundPath(b.ID), partly("0.01")), http.StatusConflict, models.CodeRefundExceedsRemaining)
	decoded[refund](t, http.StatusOK, s.As(models.RoleSuperAdmin).Post(payoutPath(rest.ID, "confirm"), confirmation("TRF-3")))
	require.Equal(t, models.BookingCancelled, statusOf(t, customer, b.ID).BookingStatus)
	requireRefunded(t, s, b, b.Amount, 2)

	for _, known := range s.GatewayLedger().Refunds {
		require.NotEqual(t, *b.Payment.Reference, known.CheckoutID, "the gateway has paid, too")
	}
}

// payoutRejected has refunds withdrawn by the requester and rejected by another user.
func payoutRejected(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.BookBilled(1)

	for _, role := range []models.Role{models.RoleFinanceAdmin, models.RoleSuperAdmin} {
		r, by := askedByHand(t, s, b, fully()), s.As(role)

		done := decoded[refund](t, http.StatusOK, by.Post(payoutPath(r.ID, "reject"), rejection("The customer travels")))
		require.Equal(t, models.RefundFailed, done.Status)
		require.Equal(t, "PAYOUT_REJECTED", *done.FailureCode)
		require.Equal(t, "The customer travels", *done.PayoutNote)
		require.Equal(t, s.World.Users[role].ID, *done.DecidedBy)
		decoded[refund](t, http.StatusOK, by.Post(payoutPath(r.ID, "reject"), rejection("The customer travels")))
		refused(t, by.Post(payoutPath(r.ID, "reject"), rejection("another reason")), http.StatusConflict, models.CodeInvalidState)
		refused(t, s.As(models.RoleAdmin).Post(payoutPath(r.ID, "confirm"), confirmation("TRF-1")), http.StatusConflict, models.CodeInvalidState)
		require.Equal(t, 0, s.Count("SELECT count(*) FROM incidents WHERE refund_id = $1", r.ID))
	}

	require.Equal(t, models.BookingConfirmed, statusOf(t, customer, b.ID).BookingStatus)
	require.Equal(t, models.TransactionPaid, statusOf(t, customer, b.ID).PaymentStatus)

	byCard := decoded[refund](t, http.StatusCreated, s.As(models.RoleFinanceAdmin).Post(refundPath(customer.BookPaid(1).ID), fully()))
	require.Equal(t, models.RefundByGateway, byCard.Channel)
	refused(t, s.As(models.RoleAdmin).Post(payoutPath(byCard.ID, "confirm"), confirmation("TRF-1")), http.StatusConflict, models.CodeInvalidState)
	refused(t, s.As(models.RoleAdmin).Post(payoutPath(uuid.New(), "reject"), rejection("no")), http.StatusNotFound, models.CodeNotFound)
}

// racingPayouts confirms and rejects the same refund at the same moment: all who agree with the first are answered 200.
func racingPayouts(t *testing.T, s *harness.Stack) {
	t.Helper()

	admin, super := s.As(models.RoleAdmin), s.As(models.RoleSuperAdmin)
	b := s.As(models.RoleEndUser).BookBilled(1)

	var back models.Money

	for range 10 {
		r := askedByHand(t, s, b, partly("5.00"))

		answers := atOnce(6, func(i int) harness.Answer {
			if i%2 == 0 {
				return post(admin, payoutPath(r.ID, "confirm"), confirmation("TRF-1"), uuid.NewString())
			}

			return post(super, payoutPath(r.ID, "reject"), rejection("no"), uuid.NewString())
		})

		won := map[bool]int{}

		for i, a := range answers {
			if a.Status == http.StatusOK || a.Status == http.StatusAccepted {
				won[i%2 == 0]++

				continue
			}

			refused(t, a, http.StatusConflict, models.CodeInvalidState)
		}

		require.Len(t, won, 1, "confirmed and rejected")

		done := awaitRefund(t, admin, r.ID)
		require.Equal(t, won[true] == 3, done.Status == models.RefundSucceeded)

		if done.Status == models.RefundSucceeded {
			back = back.Add(r.Amount)
		}
	}

	require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE id = $1 AND refunded_amount = $2 AND refund_reserved_amount = 0",
		b.Payment.TransactionID, back.String()))
}

// lateBill pays a bill whose booking was given up: the service asks for the refund by itself, and people pay it out.
func lateBill(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := customer.BookBill(1)
	require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, customer.Post("/api/v1/bookings/"+b.ID.String()+"/cancel", nil).Status)

	// 202 says that the attempt's workflow still closes the checkout. What it finds there is its own to tell.
	require.NoError(t, s.Temporal.GetWorkflow(t.Context(), models.PaymentWorkflowID(b.Payment.TransactionID), "").Get(t.Context(), nil))
	s.PayLate(*b.Payment.Reference)

	r := awaitPayoutOf(t, finance, b.ID)
	require.Nil(t, r.RequestedBy)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM incidents WHERE kind = 'LATE_PAYMENT' AND booking_id = $1 AND refund_id = $2", b.ID, r.ID))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM incidents WHERE booking_id = $1 AND workflow_id LIKE 'late-payment/bill_payment/%'", b.ID),
		"the workflow that tells the story")

	// Rejected, the money is owed all the same, and can be asked for again; the service itself had asked for the first.
	done := decoded[refund](t, http.StatusOK, finance.Post(payoutPath(r.ID, "reject"), rejection("No account number")))
	require.Equal(t, models.RefundFailed, done.Status)
	requireRefundIncident(t, s, r.ID)

	again := askedByHand(t, s, b, fully())
	refused(t, finance.Post(payoutPath(again.ID, "confirm"), confirmation("TRF-9")), http.StatusForbidden, models.CodeForbidden)
	decoded[refund](t, http.StatusOK, s.As(models.RoleAdmin).Post(payoutPath(again.ID, "confirm"), confirmation("TRF-9")))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM ledger_transfers WHERE refund_id = $1 AND credit_account = 'platform:bank'", again.ID))
}

// awaitPayoutOf waits for the refund that the service asks for by itself.
func awaitPayoutOf(t *testing.T, finance *harness.Caller, booking uuid.UUID) (r refund) {
	t.Helper()

	require.Eventually(t, func() bool {
		found := decoded[[]refund](t, http.StatusOK, finance.Get("/api/v1/admin/refunds?needs_payout=true&booking_id="+booking.String()))
		if len(found) == 1 {
			r = found[0]
		}

		return len(found) == 1
	}, patience, refundPoll)

	return r
}

// lateBillOfAPaidBooking pays a bill late whose booking was paid by card meanwhile. That its payout was rejected, and is asked
// for again, must not cost the customer the booking.
func lateBillOfAPaidBooking(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := customer.BookBill(1)
	card := decoded[transaction](t, http.StatusCreated, customer.Post(intentPath(b.ID), map[string]any{"payment_method": "credit_card", "replace": true}))
	require.NoError(t, s.Pay(*card.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, awaitTransaction(t, s, card.ID).Status)
	s.PayLate(*b.Payment.Reference)

	decoded[refund](t, http.StatusOK, finance.Post(payoutPath(awaitPayoutOf(t, finance, b.ID).ID, "reject"), rejection("No account number")))

	for _, wrong := range []any{uuid.New(), uuid.Nil, "that one"} {
		body := fully()
		body["payment_transaction_id"] = wrong
		require.Contains(t, errorDetails(t, finance.Post(refundPath(b.ID), body)), "payment_transaction_id")
	}

	body := fully()
	body["payment_transaction_id"] = b.Payment.TransactionID
	again := askedByHand(t, s, b, body)
	decoded[refund](t, http.StatusOK, s.As(models.RoleAdmin).Post(payoutPath(again.ID, "confirm"), confirmation("TRF-10")))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM refunds WHERE id = $1 AND payment_transaction_id = $2", again.ID, b.Payment.TransactionID))

	now := statusOf(t, customer, b.ID)
	require.Equal(t, models.BookingConfirmed, now.BookingStatus)
	require.Equal(t, models.TransactionPaid, now.PaymentStatus)
}
