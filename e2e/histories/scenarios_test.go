package histories_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"rihla/e2e/harness"
	"rihla/models"
	"rihla/workflows"
)

// fault makes the gateway misbehave the next times.
func fault(s *harness.Stack, operation, mode string, times int) {
	s.Fault(map[string]any{"operation": operation, "mode": mode, "times": times})
}

// shortHold lets bookings expire while a test waits.
const shortHold = 6 * time.Second

func TestPaymentHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer := s.As(models.RoleEndUser)

	paid := customer.BookPaid(1)
	replay(t, s, "payment-at-once-paid", models.PaymentWorkflowID(paid.Payment.TransactionID))

	declined := customer.Book(1)
	require.NoError(t, s.Pay(*declined.Payment.CheckoutURL, "decline"))
	require.Equal(t, models.TransactionFailed, customer.Await(declined.ID).PaymentStatus)
	replay(t, s, "payment-at-once-declined", models.PaymentWorkflowID(declined.Payment.TransactionID))

	replaced := customer.Book(1)
	a := customer.Post("/api/v1/payments/booking/"+replaced.ID.String()+"/intent", map[string]any{"payment_method": "wallet_b", "replace": true})
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	replay(t, s, "payment-at-once-cancelled", models.PaymentWorkflowID(replaced.Payment.TransactionID))

	fault(s, "create_checkout", "reject", 1)

	rejected := customer.Book(1)
	require.Equal(t, models.FailureGatewayRejected, *rejected.Payment.FailureCode)
	replay(t, s, "payment-at-once-gateway-rejected", models.PaymentWorkflowID(rejected.Payment.TransactionID))

	fault(s, "create_checkout", "error", 2)

	retried := customer.BookPaid(1)
	replay(t, s, "payment-at-once-gateway-unavailable-at-first", models.PaymentWorkflowID(retried.Payment.TransactionID))

	for _, mode := range []string{"wrong_amount", "wrong_currency"} {
		fault(s, "webhook", mode, 1)

		wrong := customer.Book(1)
		require.NoError(t, s.Pay(*wrong.Payment.CheckoutURL, "succeed"))
		require.Equal(t, models.TransactionFailed, customer.Await(wrong.ID).PaymentStatus)
		replay(t, s, "payment-at-once-"+strings.ReplaceAll(mode, "_", "-"), models.PaymentWorkflowID(wrong.Payment.TransactionID))
	}

	fault(s, "webhook", "duplicate", 1)

	doubled := customer.BookPaid(1)
	replay(t, s, "payment-at-once-webhook-doubled", models.PaymentWorkflowID(doubled.Payment.TransactionID))
}

func TestExpiryAndLateHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"BOOKING_HOLD": shortHold.String()}})
	customer := s.As(models.RoleEndUser)

	// A webhook that never comes: the expiry asks the gateway, and the payment counts.
	fault(s, "webhook", "drop", 1)

	lost := customer.Book(1)
	require.NoError(t, s.Pay(*lost.Payment.CheckoutURL, "succeed"))

	expired := customer.Book(1)
	late := customer.Book(1)

	require.Equal(t, models.TransactionPaid, customer.Await(lost.ID).PaymentStatus)
	replay(t, s, "payment-at-once-webhook-lost", models.PaymentWorkflowID(lost.Payment.TransactionID))

	require.Equal(t, models.FailureExpired, *customer.Await(expired.ID).FailureCode)
	replay(t, s, "payment-at-once-expired", models.PaymentWorkflowID(expired.Payment.TransactionID))

	// Money that comes after the end confirms the booking while there are seats …
	require.Equal(t, models.TransactionFailed, customer.Await(late.ID).PaymentStatus)
	s.PayLate(*late.Payment.Reference)
	replay(t, s, "late-payment-confirmed", s.AwaitWorkflow("LatePayment", 1)[0])

	// … and goes back when there are none.
	_, err := s.DB.ExecContext(t.Context(), "UPDATE trips SET capacity = GREATEST(seats_taken, 1)")
	require.NoError(t, err)
	s.PayLate(*expired.Payment.Reference)

	refund := models.RefundWorkflowID(models.RefundID(expired.Payment.TransactionID, "late"))

	for _, id := range s.AwaitWorkflow("LatePayment", 2) {
		replay(t, s, "late-payment-orders-refund", id)
	}

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM refunds WHERE status = 'SUCCEEDED'") == 1
	}, time.Minute, 50*time.Millisecond)
	replay(t, s, "refund-at-once-of-late-payment", refund)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM incidents WHERE kind = 'LATE_PAYMENT'"))
}

// TestSickGatewayHistories: an open circuit answers every waiting request at once, and the gateway is called when it is back.
func TestSickGatewayHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"GATEWAY_A_BREAKER_FAILURES": "1", "GATEWAY_A_BREAKER_OPEN_FOR": "3s"}})
	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	paid := customer.BookPaid(1)

	fault(s, "create_checkout", "error", 1)

	delayed := customer.Book(1)
	require.Equal(t, models.TransactionPending, delayed.Payment.Status)
	require.Empty(t, delayed.Payment.CheckoutURL)

	attempt := delayed.Payment.TransactionID

	fault(s, "refund", "error", 1)

	a := finance.Post("/api/v1/admin/bookings/"+paid.ID.String()+"/refund", map[string]any{"refund_type": "FULL"})
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)

	var refund struct {
		ID uuid.UUID `json:"id"`
	}

	require.NoError(t, a.Data(&refund))

	intent := map[string]any{"payment_method": models.MethodCreditCard}

	require.Eventually(t, func() bool {
		a = customer.Post("/api/v1/payments/booking/"+delayed.ID.String()+"/intent", intent)

		return a.Status == http.StatusOK
	}, 20*time.Second, 100*time.Millisecond)
	require.NoError(t, a.Data(&delayed.Payment))
	require.NoError(t, s.Pay(*delayed.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(delayed.ID).PaymentStatus)

	replay(t, s, "payment-at-once-gateway-away-at-checkout", models.PaymentWorkflowID(attempt))
	replay(t, s, "refund-at-once-gateway-away", models.RefundWorkflowID(refund.ID))
}

// TestSilentWebhooksHistories: a webhook is lost, and the gateway is asked long before the time to pay is over.
func TestSilentWebhooksHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"WEBHOOK_SILENCE": "3s", "SWEEP_INTERVAL": "1s"}})
	customer := s.As(models.RoleEndUser)

	fault(s, "webhook", "drop", 1)

	lost := customer.Book(1)
	require.NoError(t, s.Pay(*lost.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(lost.ID).PaymentStatus)
	replay(t, s, "payment-at-once-webhook-lost-and-asked-for", models.PaymentWorkflowID(lost.Payment.TransactionID))

	for _, id := range s.AwaitWorkflow("PollStatus", 1) {
		replay(t, s, "poll-status", id)
	}
}

// TestSilentGatewayHistories: the gateway does not say whether an expired attempt was paid, until there is an incident. And
// an attempt that is never opened.
func TestSilentGatewayHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"BOOKING_HOLD": "4s", "EXPIRY_ASK_FOR": "2s"}})
	customer := s.As(models.RoleEndUser)

	fault(s, "webhook", "drop", 1)
	s.Fault(map[string]any{"operation": "status", "mode": "reject", "status": http.StatusForbidden, "times": 1000})

	b := customer.Book(1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM incidents WHERE kind = 'GATEWAY_OUTAGE' AND booking_id = $1", b.ID) == 1
	}, 20*time.Second, 50*time.Millisecond)
	s.ClearFaults()
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
	replay(t, s, "payment-at-once-gateway-silent", models.PaymentWorkflowID(b.Payment.TransactionID))

	unknown := models.Attempt{BookingID: uuid.New(), Number: 1, Method: models.MethodCreditCard}
	_, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: models.PaymentWorkflowID(unknown.ID()), TaskQueue: s.Queue,
	}, workflows.Payment, unknown)
	require.NoError(t, err)
	replay(t, s, "payment-at-once-refused", models.PaymentWorkflowID(unknown.ID()))
}

// TestReconcileHistories: the sweep takes up attempts whose workflow was terminated.
func TestReconcileHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer, starter := s.As(models.RoleEndUser), workflows.NewClient(s.Temporal, s.Queue)

	for name, outcome := range map[string]string{"reconcile-unpaid": "", "reconcile-paid": "succeed"} {
		b := customer.Book(1)
		id := b.Payment.TransactionID
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), models.PaymentWorkflowID(id), "", "by mistake"))

		want := models.TransactionFailed

		if outcome != "" {
			fault(s, "webhook", "drop", 1)
			require.NoError(t, s.Pay(*b.Payment.CheckoutURL, outcome))

			want = models.TransactionPaid
		}

		require.NoError(t, starter.Reconcile(t.Context(), id, models.GatewayA))
		require.Equal(t, want, customer.Await(b.ID).PaymentStatus)
		replay(t, s, name, models.ReconcileWorkflowID(id))
	}
}

func TestRefundHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := customer.BookPaid(2)
	path := "/api/v1/admin/bookings/" + b.ID.String() + "/refund"

	refund := func(body map[string]any) (id string) {
		t.Helper()

		a := finance.Post(path, body)
		require.Contains(t, []int{http.StatusCreated, http.StatusAccepted}, a.Status, "%s", a.Body)

		var r struct {
			ID uuid.UUID `json:"id"`
		}

		require.NoError(t, a.Data(&r))

		return models.RefundWorkflowID(r.ID)
	}
	part := map[string]any{"refund_type": "PARTIAL", "amount": models.MustMoney("10.00")}

	replay(t, s, "refund-at-once-partial", refund(part))

	fault(s, "refund", "reject", 1)
	replay(t, s, "refund-at-once-refused-by-gateway", refund(part))

	fault(s, "refund", "error", 1)
	replay(t, s, "refund-at-once-unknown-outcome", refund(part))

	fault(s, "refund", "timeout_after_effect", 1)

	replay(t, s, "refund-at-once-timeout-after-effect", refund(part))

	s.Fault(map[string]any{"operation": "refund", "mode": "pending", "times": 1, "delay_ms": 6000})
	replay(t, s, "refund-at-once-decided-later", refund(part))

	a := finance.Post(path, map[string]any{"refund_type": "PARTIAL", "amount": models.MustMoney("9999.00")})
	require.Equal(t, models.CodeRefundExceedsRemaining, a.Code())

	// Started manually.
	id := models.RefundWorkflowID(uuid.New())
	_, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: s.Queue},
		workflows.Refund, models.RefundOrder{ID: uuid.New()})
	require.NoError(t, err)
	replay(t, s, "refund-order-missing", id)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM incidents WHERE kind = 'REFUND_WITHOUT_ORDER'"))

	replay(t, s, "refund-at-once-full", refund(map[string]any{"refund_type": "FULL"}))
}

// TestCompareHistories has a gateway asked what it has given back before a refund is ordered: when it answers, when it does so at the
// second try, and when it knows nothing of the payment.
func TestCompareHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)

	for _, c := range []struct {
		name, mode string
	}{
		{name: "compare"},
		{name: "compare-gateway-unavailable-at-first", mode: "error"},
		{name: "compare-gateway-rejects", mode: "reject"},
	} {
		b := customer.BookPaid(1)

		if c.mode != "" {
			fault(s, "status", c.mode, 1)
		}

		a := finance.Post("/api/v1/admin/bookings/"+b.ID.String()+"/refund", map[string]any{"refund_type": "FULL"})
		require.Contains(t, []int{http.StatusCreated, http.StatusAccepted}, a.Status, "%s", a.Body)
		replay(t, s, c.name, models.CompareWorkflowID(b.Payment.TransactionID))
	}

	require.Zero(t, s.Count("SELECT count(*) FROM incidents WHERE kind = 'OUTSIDE_REFUND'"))
}

// TestRefundByHandHistories has finance staff pay out and reject what no gateway gives back.
func TestRefundByHandHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	finance, admin := s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)
	b := s.As(models.RoleEndUser).BookBilled(1)

	for _, c := range []struct {
		name, decision string
		ask, body      map[string]any
	}{
		{
			"refund-order-by-hand-paid-out", "confirm-payout",
			map[string]any{"refund_type": "PARTIAL", "amount": models.MustMoney("10.00")},
			map[string]any{"payout_reference": "TRF-1", "note": "Customer"},
		},
		{"refund-order-by-hand-rejected", "reject-payout", map[string]any{"refund_type": "POLICY"}, map[string]any{"reason": "Customer"}},
	} {
		a := finance.Post("/api/v1/admin/bookings/"+b.ID.String()+"/refund", c.ask)
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)

		var r struct {
			ID uuid.UUID `json:"id"`
		}

		require.NoError(t, a.Data(&r))

		a = admin.Post("/api/v1/admin/refunds/"+r.ID.String()+"/"+c.decision, c.body)
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		replay(t, s, c.name, models.RefundWorkflowID(r.ID))
	}
}

func TestCampaignAndHouseholdHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	admin := s.As(models.RoleAdmin)

	running, scheduled := s.NewCampaign("1000.00", 0), s.NewCampaign("1000.00", 5)

	for name, id := range map[string]uuid.UUID{"campaign-active": running, "campaign-scheduled": scheduled} {
		a := admin.Post("/api/v1/payments/ad-campaign/"+id.String()+"/intent", map[string]any{"payment_method": "wallet_a"})
		require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)

		var p struct {
			ID  uuid.UUID `json:"id"`
			URL string    `json:"checkout_url"`
		}

		require.NoError(t, a.Data(&p))
		require.NoError(t, s.Pay(p.URL, "succeed"))
		replay(t, s, name+"-payment", models.PaymentWorkflowID(p.ID))
		require.Eventually(t, func() bool { return s.History(models.CampaignWorkflowID(id)) >= 9 }, 20*time.Second, 50*time.Millisecond)
		replayRunning(t, s, name+"-searchable", models.CampaignWorkflowID(id))
	}

	starter := workflows.NewClient(s.Temporal, s.Queue)
	require.NoError(t, starter.ResumeCampaign(t.Context(), models.AdCampaign{ID: scheduled}))
	require.Eventually(t, func() bool { return s.History(models.CampaignWorkflowID(scheduled)) >= 16 }, 20*time.Second, 50*time.Millisecond)
	replayRunning(t, s, "campaign-looked-at-again", models.CampaignWorkflowID(scheduled))

	closesTheOtherAttempt(t, s, admin)

	// The last day of the other is over.
	_, err := s.DB.ExecContext(t.Context(), "UPDATE ad_campaigns SET starts_on = starts_on - 30, ends_on = starts_on - 1 WHERE id = $1", running)
	require.NoError(t, err)
	require.NoError(t, starter.ResumeCampaign(t.Context(), models.AdCampaign{ID: running}))
	replay(t, s, "campaign-ended", models.CampaignWorkflowID(running))

	for _, id := range s.AwaitWorkflow("Outbox", 1) {
		replay(t, s, "outbox", id)
	}

	for _, id := range s.AwaitWorkflow("Sweep", 1) {
		replay(t, s, "sweep", id)
	}

	nightly := s.Temporal.ScheduleClient().GetHandle(t.Context(), models.AuditScheduleID(s.Queue))
	require.NoError(t, nightly.Trigger(t.Context(), client.ScheduleTriggerOptions{}))

	for _, id := range s.AwaitWorkflow("Audit", 1) {
		replay(t, s, "audit", id)
	}
}

// closesTheOtherAttempt pays late for a campaign, by its first attempt, while the second is open.
func closesTheOtherAttempt(t *testing.T, s *harness.Stack, admin *harness.Caller) {
	t.Helper()

	type attempt struct {
		ID        uuid.UUID `json:"id"`
		URL       string    `json:"checkout_url"`
		Reference string    `json:"reference"`
	}

	var first, second attempt

	intent := "/api/v1/payments/ad-campaign/" + s.NewCampaign("1000.00", 0).String() + "/intent"
	require.NoError(t, admin.Post(intent, map[string]any{"payment_method": "wallet_a"}).Data(&first))
	require.NoError(t, s.Pay(first.URL, "decline"))
	require.NoError(t, s.Temporal.GetWorkflow(t.Context(), models.PaymentWorkflowID(first.ID), "").Get(t.Context(), nil))
	require.NoError(t, admin.Post(intent, map[string]any{"payment_method": "wallet_a"}).Data(&second))

	s.PayLate(first.Reference)
	replay(t, s, "late-payment-closes-the-other-attempt", s.AwaitWorkflow("LatePayment", 1)[0])
	s.AwaitWorkflow("Reconcile", 1)
	replay(t, s, "reconcile-cancelled", models.ReconcileWorkflowID(second.ID))
}
