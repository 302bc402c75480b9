package e2e_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"rihla/e2e/harness"
	"rihla/models"
	"rihla/workflows"
)

// reset does what `temporal workflow reset --type FirstWorkflowTask` does: the workflow runs again from its beginning.
func reset(t *testing.T, s *harness.Stack, workflowID string) {
	t.Helper()

	_, err := s.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID}, Reason: "an operator tries it",
		WorkflowTaskFinishEventId: 3, RequestId: uuid.NewString(),
	})
	require.NoError(t, err)
}

func completes(t *testing.T, s *harness.Stack, workflowID string) {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	require.NoError(t, s.Temporal.GetWorkflow(ctx, workflowID, "").Get(ctx, nil), workflowID)
}

// awaitDatabase waits until the query counts want.
func awaitDatabase(t *testing.T, s *harness.Stack, want int, query string, args ...any) {
	t.Helper()
	require.Eventually(t, func() bool { return s.Count(query, args...) == want }, patience, 50*time.Millisecond, query)
}

func exec(t *testing.T, s *harness.Stack, query string, args ...any) {
	t.Helper()

	_, err := s.DB.ExecContext(t.Context(), query, args...)
	require.NoError(t, err)
}

// TestResetToTheBeginning: an operator resets workflows that have moved money to their first step. All keys derive from
// the business, so that the second run finds what the first one did.
func TestResetToTheBeginning(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := customer.BookPaid(2)
	payment := models.PaymentWorkflowID(b.Payment.TransactionID)
	path := "/api/v1/admin/bookings/" + b.ID.String() + "/refund"
	refund := func(amount string) (string, models.RefundStatus) {
		t.Helper()

		a := finance.Post(path, map[string]any{"refund_type": "PARTIAL", "amount": models.MustMoney(amount)})
		require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)

		var r struct {
			ID     uuid.UUID           `json:"id"`
			Status models.RefundStatus `json:"status"`
		}

		require.NoError(t, a.Data(&r))

		return models.RefundWorkflowID(r.ID), r.Status
	}

	given, status := refund("10.00")
	require.Equal(t, models.RefundSucceeded, status)

	s.Fault(map[string]any{"operation": "refund", "mode": "reject", "times": 1})

	denied, status := refund("20.00")
	require.Equal(t, models.RefundFailed, status)

	s.Fault(map[string]any{"operation": "webhook", "mode": "wrong_amount", "times": 1})

	wrong := customer.Book(1)
	require.NoError(t, s.Pay(*wrong.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.FailureAmountMismatch, *customer.Await(wrong.ID).FailureCode)

	campaign := s.NewCampaign("100.00", 3)
	attempt := decoded[transaction](t, http.StatusCreated, s.As(models.RoleProviderAdmin).Post(campaignIntentPath(campaign), byCard()))
	require.NoError(t, s.Pay(*attempt.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, awaitTransaction(t, s, attempt.ID).Status)

	waiting := customer.Book(1)

	awaitDatabase(t, s, 0, "SELECT count(*) FROM notifications WHERE status = 'PENDING'")
	before := s.Digest(t)

	for range 2 {
		for _, id := range []string{
			payment, given, denied, models.PaymentWorkflowID(wrong.Payment.TransactionID), models.PaymentWorkflowID(attempt.ID),
		} {
			completes(t, s, id)
			reset(t, s, id)
			completes(t, s, id)
		}

		reset(t, s, models.CampaignWorkflowID(campaign))
		reset(t, s, models.PaymentWorkflowID(waiting.Payment.TransactionID))
	}

	require.Equal(t, before, s.Digest(t), "no row has changed")

	ledger := s.GatewayLedger()
	require.Len(t, ledger.Checkouts, 4)
	require.Len(t, ledger.Refunds, 1, "the refused one was not asked for again")

	// The one that waits goes on with the checkout that the customer sees.
	require.NoError(t, s.Pay(*waiting.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.BookingConfirmed, customer.Await(waiting.ID).BookingStatus)
	completes(t, s, models.PaymentWorkflowID(waiting.Payment.TransactionID))
}

// TestCancelAndTerminate: the service takes up again every workflow that an operator ends.
func TestCancelAndTerminate(t *testing.T) { //nolint:tparallel // the gateway is set to fail by one at a time
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)

	for name, end := range map[string]func(id string) error{
		"terminate": func(id string) error { return s.Temporal.TerminateWorkflow(t.Context(), id, "", "by mistake") },
		"cancel":    func(id string) error { return s.Temporal.CancelWorkflow(t.Context(), id, "") },
	} {
		t.Run(name, func(t *testing.T) {
			ends := func(id string) {
				t.Helper()
				require.NoError(t, end(id))
				require.Eventually(t, func() bool {
					d, err := s.Temporal.DescribeWorkflow(t.Context(), id, "")

					return err == nil && d.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
				}, patience, 50*time.Millisecond, id)
			}

			// A payment: the customer pays all the same.
			b := customer.Book(1)
			ends(models.PaymentWorkflowID(b.Payment.TransactionID))
			require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
			require.Equal(t, models.BookingConfirmed, customer.Await(b.ID).BookingStatus)

			// A payment without a payer: the sweep polls the gateway when its time is long over.
			unpaid := customer.Book(1)
			ends(models.PaymentWorkflowID(unpaid.Payment.TransactionID))
			exec(t, s, "UPDATE payment_transactions SET expires_at = now() - interval '3 minutes' WHERE id = $1", unpaid.Payment.TransactionID)
			require.Equal(t, models.FailureExpired, *customer.Await(unpaid.ID).FailureCode)

			// A refund at a gateway that does not answer.
			s.Fault(map[string]any{"operation": "refund", "mode": "error", "times": 1000})

			a := finance.Post("/api/v1/admin/bookings/"+b.ID.String()+"/refund", map[string]any{"refund_type": "FULL"})
			require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)

			var r struct {
				ID uuid.UUID `json:"id"`
			}

			require.NoError(t, a.Data(&r))
			ends(models.RefundWorkflowID(r.ID))
			s.ClearFaults()
			s.Tampered("the refund is made as old as the sweep waits for", "refund-order")
			exec(t, s, "UPDATE refunds SET created_at = now() - interval '3 minutes' WHERE id = $1", r.ID)
			awaitDatabase(t, s, 1, "SELECT count(*) FROM refunds WHERE id = $1 AND status = 'SUCCEEDED'", r.ID)
		})
	}
}

// TestTerminatedWithoutAWorker: workflows that no worker has begun are ended; what they were for is done all the same.
func TestTerminatedWithoutAWorker(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"BOOKING_HOLD": "5s"}})
	customer, starter := s.As(models.RoleEndUser), workflows.NewClient(s.Temporal, s.Queue)
	terminate := func(id string) {
		t.Helper()
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), id, "", "by mistake"))
	}

	late := customer.Book(1)
	require.Equal(t, models.TransactionFailed, customer.Await(late.ID).PaymentStatus)
	completes(t, s, models.PaymentWorkflowID(late.Payment.TransactionID))
	s.Worker.Kill()
	s.PayLate(*late.Payment.Reference)
	terminate(s.AwaitWorkflow("LatePayment", 1)[0])

	require.NoError(t, starter.Reconcile(t.Context(), late.Payment.TransactionID, models.GatewayA))
	terminate(models.ReconcileWorkflowID(late.Payment.TransactionID))

	require.NoError(t, starter.WakeOutbox(t.Context()))
	terminate(models.OutboxWorkflowID(s.Queue))

	for _, id := range s.AwaitWorkflow("Sweep", 1) {
		_ = s.Temporal.TerminateWorkflow(t.Context(), id, "", "by mistake") // most of them are over
	}

	s.Worker.Start()
	require.Eventually(t, func() bool {
		return customer.Await(late.ID).BookingStatus == models.BookingConfirmed
	}, patience, time.Second)
	awaitDatabase(t, s, 0, "SELECT count(*) FROM notifications WHERE status <> $1", models.NotificationSent)
}
