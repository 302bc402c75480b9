package e2e_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestRefundsAtATroubledGateway has a service to itself: faults hit the next call of the gateway, from any caller.
func TestRefundsAtATroubledGateway(t *testing.T) { //nolint:tparallel // its parts share one service, one after the other
	t.Parallel()

	service := harness.Start(t, harness.Options{Env: map[string]string{"REFUND_WAIT": "3s", "GATEWAY_TIMEOUT": "1s"}})

	t.Run("refused", func(t *testing.T) { refusedByGateway(t, service.For(t)) })
	t.Run("refused, of a campaign's late payment", func(t *testing.T) { lateCampaignRefused(t, service.For(t)) })
	t.Run("refused, paid out manually", func(t *testing.T) { refusedThenPaidOut(t, service.For(t)) })
	t.Run("pending", func(t *testing.T) { pendingThenPaid(t, service.For(t)) })
	t.Run("pending, then refused", func(t *testing.T) { pendingThenRefused(t, service.For(t)) })

	for name, fault := range map[string]map[string]any{
		"errors":           {"mode": "error", "times": 2},
		"busy":             {"mode": "error", "status": 429, "retry_after": 1},
		"lost calls":       {"mode": "timeout"},
		"lost answers":     {"mode": "timeout_after_effect"},
		"two lost answers": {"mode": "timeout_after_effect", "times": 2},
		"late answers":     {"mode": "slow", "delay_ms": 1500},
	} {
		t.Run(name, func(t *testing.T) { unknownOutcome(t, service.For(t), fault) })
	}
}

// refusedByGateway checks that a refusal changes nothing but the refund itself, and asks a person to look.
func refusedByGateway(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := customer.BookPaid(2)
	before := entriesOf(t, s, b.ID)

	s.Fault(map[string]any{"operation": "refund", "mode": "reject"})

	r := decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), fully()))
	require.Equal(t, models.RefundFailed, r.Status)
	require.Equal(t, "GATEWAY_REJECTED", *r.FailureCode)
	require.Nil(t, r.Transaction)
	require.NotNil(t, r.CompletedAt)

	requireRefundIncident(t, s, r.ID)
	require.Equal(t, before, entriesOf(t, s, b.ID))
	require.Equal(t, 2, seatsTaken(s))

	status := statusOf(t, customer, b.ID)
	require.Equal(t, models.TransactionPaid, status.PaymentStatus)
	require.Equal(t, models.BookingConfirmed, status.BookingStatus)
	require.Equal(t, 0, s.Count("SELECT count(*) FROM notifications WHERE kind = 'REFUND_SUCCEEDED' AND data->>'booking_id' = $1", b.ID.String()))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE id = $1 AND refunded_amount + refund_reserved_amount = 0",
		b.Payment.TransactionID))

	again := decodedAny[refund](t, finance.Post(refundPath(b.ID), fully()))
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, again.ID).Status)
}

// refusedThenPaidOut: what the gateway did not make of a sale's refund is paid out of the bank by a second person, once; lists, incident and
// books say so.
func refusedThenPaidOut(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance, admin := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)
	b := customer.BookPaid(1)
	repair := func(id uuid.UUID) (kind, state string) {
		for _, i := range decoded[[]map[string]any](t, http.StatusOK, finance.Get(incidentsPath+"?per_page=100&kind=REFUND_FAILED")) {
			if of, ok := i["repair"].(map[string]any); ok && i["refund_id"] == id.String() {
				kind, _ = of["kind"].(string)
				state, _ = of["state"].(string)
			}
		}

		return kind, state
	}
	is := func(id uuid.UUID, want ...string) {
		kind, state := repair(id)
		require.Equal(t, want, []string{kind, state})
	}

	s.Fault(map[string]any{"operation": "refund", "mode": "reject"})

	failed := decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), partly("15.00")))
	require.Equal(t, models.RefundFailed, failed.Status)
	require.Equal(t, 1, waitingFor(t, s, b.ID))
	require.True(t, refundByID(t, s, failed.ID).NeedsPayout)
	is(failed.ID, "PAY_OUT_REFUND", "DUE")

	confirm := payoutPath(failed.ID, "confirm")
	refused(t, finance.Post(confirm, confirmation("TRF-1")), http.StatusForbidden, models.CodeForbidden)
	refused(t, admin.Post(payoutPath(failed.ID, "reject"), rejection("no")), http.StatusConflict, models.CodeInvalidState)

	paid := decoded[refund](t, http.StatusOK, admin.Post(confirm, confirmation("TRF-1")))
	require.NotEqual(t, failed.ID, paid.ID)
	require.Equal(t, models.RefundByHand, paid.Channel)
	require.Equal(t, "15.00", paid.Amount.String())
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, paid.ID).Status)
	require.Equal(t, paid.ID, decoded[refund](t, http.StatusOK, admin.Post(confirm, confirmation("TRF-1"))).ID, "the same again")
	refused(t, admin.Post(confirm, confirmation("TRF-2")), http.StatusConflict, models.CodeInvalidState)

	require.Equal(t, 0, waitingFor(t, s, b.ID))
	require.Equal(t, models.RefundFailed, refundByID(t, s, failed.ID).Status)
	require.False(t, refundByID(t, s, failed.ID).NeedsPayout)
	is(failed.ID, "PAY_OUT_REFUND", "DONE")

	requireEntriesAddUp(t, s, b)
	require.Equal(t, models.TransactionPartialRefund, statusOf(t, customer, b.ID).PaymentStatus)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM ledger_transfers WHERE refund_id = $1 AND credit_account = 'platform:bank' AND amount = 15", paid.ID))

	for _, known := range s.GatewayLedger().Refunds {
		require.NotEqual(t, *b.Payment.Reference, known.CheckoutID, "the gateway has paid, too")
	}
}

// lateCampaignRefused pays for a campaign twice, both times late: the first payment counts and closes the open attempt, the
// second goes back, which the gateway refuses. Finance staff ask for it again.
func lateCampaignRefused(t *testing.T, s *harness.Stack) {
	t.Helper()

	staff, finance, campaign := s.As(models.RoleProviderStaff), s.As(models.RoleFinanceAdmin), s.NewCampaign("100.00", 0)
	again := func(id uuid.UUID) string { return "/api/v1/admin/payment-transactions/" + id.String() + "/refund" }

	first := decoded[transaction](t, http.StatusCreated, staff.Post(campaignIntentPath(campaign), byCard()))
	require.NoError(t, s.Pay(*first.CheckoutURL, "decline"))
	require.Equal(t, models.FailureDeclined, *awaitTransaction(t, s, first.ID).FailureCode)
	refused(t, finance.Post(again(first.ID), map[string]any{}), http.StatusConflict, models.CodeInvalidState)

	second := decoded[transaction](t, http.StatusCreated, staff.Post(campaignIntentPath(campaign), byCard()))
	s.PayLate(*first.Reference)
	require.Equal(t, models.FailureCancelled, *awaitTransaction(t, s, second.ID).FailureCode, "nobody should pay twice")
	refused(t, finance.Post(again(first.ID), map[string]any{}), http.StatusConflict, models.CodeInvalidState)

	s.Fault(map[string]any{"operation": "refund", "mode": "reject"})
	s.PayLate(*second.Reference)
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM refunds WHERE payment_transaction_id = $1 AND status = 'FAILED'", second.ID) == 1
	}, patience, refundPoll)
	requireRefundIncident(t, s, models.RefundID(second.ID, "late"))

	key, reason := uuid.NewString(), map[string]any{"reason": "another account"}
	asked := post(finance, again(second.ID), reason, key)
	r := decodedAny[refund](t, asked)
	require.Equal(t, string(asked.Body), string(post(finance, again(second.ID), reason, key).Body))
	require.Equal(t, "120.00", r.Amount.String())
	require.Equal(t, "another account", *r.Reason)
	require.Nil(t, r.BookingID)
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)
	refused(t, finance.Post(again(second.ID), map[string]any{}), http.StatusConflict, models.CodeBookingNotRefundable)
}

func requireRefundIncident(t *testing.T, s *harness.Stack, id uuid.UUID) {
	t.Helper()

	found := 0

	for _, i := range decoded[[]incident](t, http.StatusOK, s.As(models.RoleSupportAgent).Get(incidentsPath+"?per_page=100&kind=REFUND_FAILED")) {
		if i.RefundID != nil && *i.RefundID == id {
			found++
		}
	}

	require.Equal(t, 1, found)
}

// hold asks for a refund that the gateway keeps pending, and returns it with the gateway's id of it.
func hold(t *testing.T, s *harness.Stack, b harness.Booking, body any) (r refund, gatewayID string) {
	t.Helper()

	s.Fault(map[string]any{"operation": "refund", "mode": "pending"})

	finance, key := s.As(models.RoleFinanceAdmin), uuid.NewString()
	a := post(finance, refundPath(b.ID), body, key)
	r = decoded[refund](t, http.StatusAccepted, a)
	require.Equal(t, models.RefundPending, r.Status)
	require.Nil(t, r.CompletedAt)
	require.Equal(t, "/api/v1/admin/refunds/"+r.ID.String(), a.Header.Get("Location"))

	again := post(finance, refundPath(b.ID), body, key)
	require.Equal(t, http.StatusAccepted, again.Status)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, string(a.Body), string(again.Body))

	require.Eventually(t, func() bool {
		for _, known := range s.GatewayLedger().Refunds {
			if known.MerchantReference == r.ID.String() {
				gatewayID = known.ID
			}
		}

		return gatewayID != ""
	}, patience, refundPoll)

	return r, gatewayID
}

func pendingThenPaid(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := customer.BookPaid(1)
	r, gatewayID := hold(t, s, b, partly("69.00"))

	// A reserved amount is not available to another refund.
	refused(t, finance.Post(refundPath(b.ID), partly("69.00")), http.StatusConflict, models.CodeRefundExceedsRemaining)
	require.Equal(t, models.TransactionPaid, statusOf(t, customer, b.ID).PaymentStatus)
	require.Len(t, entriesOf(t, s, b.ID), 1)

	// The gateway decides, and tells it a hundred times.
	event := eventOf(b, models.EventRefundSucceeded)
	data := event["data"].(map[string]any)
	data["merchant_reference"], data["refund_id"], data["amount"] = r.ID, gatewayID, models.MustMoney("69.00")

	s.DecideRefund(gatewayID, "succeed")

	for _, a := range atOnce(storm, func(i int) harness.Answer {
		return deliver(s, models.ChannelGatewayA, fmt.Sprintf("%s-%d", r.ID, i), event)
	}) {
		require.True(t, decoded[receipt](t, http.StatusOK, a).Received)
	}

	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)
	requireRefunded(t, s, b, models.MustMoney("69.00"), 1)
	requireEntriesAddUp(t, s, b)
	require.Equal(t, models.TransactionPartialRefund, statusOf(t, customer, b.ID).PaymentStatus)
	require.Equal(t, 2, s.Count("SELECT count(*) FROM notifications WHERE kind = 'REFUND_SUCCEEDED' AND data->>'booking_id' = $1", b.ID.String()))

	// A refusal after the fact, well signed, takes nothing back; a person looks at it.
	event["type"] = models.EventRefundFailed
	require.False(t, decoded[receipt](t, http.StatusOK, deliver(s, models.ChannelGatewayA, uuid.NewString(), event)).Duplicate)
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)
	requireRefundIncident(t, s, r.ID)
}

func pendingThenRefused(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := customer.BookPaid(1)
	r, gatewayID := hold(t, s, b, fully())

	s.DecideRefund(gatewayID, "fail")

	done := awaitRefund(t, finance, r.ID)
	require.Equal(t, models.RefundFailed, done.Status)
	require.Equal(t, "GATEWAY_REJECTED", *done.FailureCode)
	requireRefundIncident(t, s, r.ID)
	require.Equal(t, models.BookingConfirmed, statusOf(t, customer, b.ID).BookingStatus)

	// The reserved amount is available again.
	again := decodedAny[refund](t, finance.Post(refundPath(b.ID), fully()))
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, again.ID).Status)
}

// unknownOutcome loses calls or answers on the way: the money goes back once, however often it has to be asked for.
func unknownOutcome(t *testing.T, s *harness.Stack, fault map[string]any) {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)
	b := s.As(models.RoleEndUser).BookPaid(1)

	fault["operation"] = "refund"
	s.Fault(fault)

	r := decodedAny[refund](t, finance.Post(refundPath(b.ID), partly("69.00")))
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)
	requireRefunded(t, s, b, models.MustMoney("69.00"), 1)

	at := 0

	for _, known := range s.GatewayLedger().Refunds {
		if known.CheckoutID == *b.Payment.Reference {
			at++

			require.Equal(t, r.ID.String(), known.MerchantReference)
		}
	}

	require.Equal(t, 1, at, "the gateway paid %d times", at)
}
