package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

const (
	// patience is how long a test waits for what comes by itself.
	patience   = 30 * time.Second
	refundPoll = 50 * time.Millisecond
)

// atOnce calls do n times at the same moment and returns what came back.
func atOnce[T any](n int, do func(i int) T) []T {
	var (
		wg    sync.WaitGroup
		start = make(chan struct{})
		out   = make([]T, n)
	)

	for i := range n {
		wg.Go(func() {
			<-start

			out[i] = do(i)
		})
	}

	close(start)
	wg.Wait()

	return out
}

// post sends a body under an Idempotency-Key. It may be called from any goroutine: a broken connection is a zero Answer.
func post(c *harness.Caller, path string, body any, key string) harness.Answer {
	a, err := c.Do(http.MethodPost, path, body, map[string]string{"Idempotency-Key": key})
	if err != nil {
		return harness.Answer{Body: []byte(err.Error())}
	}

	return a
}

// eventOf is what the gateway reports about a booking's payment.
func eventOf(b harness.Booking, kind models.EventType) map[string]any {
	return map[string]any{
		"type": kind, "timestamp": time.Now().UTC().Format(time.RFC3339),
		"data": map[string]any{
			"checkout_id": *b.Payment.Reference, "merchant_reference": b.Payment.TransactionID, "amount": b.Amount,
			"currency": models.Currency, "payment_method": models.MethodCreditCard, "result_code": "APPROVED",
		},
	}
}

// deliver posts a signed webhook. It may be called from any goroutine.
func deliver(s *harness.Stack, channel models.Channel, id string, event any) harness.Answer {
	body, err := json.Marshal(event)
	if err != nil {
		return harness.Answer{Body: []byte(err.Error())}
	}

	a, err := s.Anybody().Do(http.MethodPost, "/api/v1/payments/"+channel.Path(), body, s.Signed(channel, id, body))
	if err != nil {
		return harness.Answer{Body: []byte(err.Error())}
	}

	return a
}

// receipt is the answer to a webhook.
type receipt struct {
	Received  bool `json:"received"`
	Duplicate bool `json:"duplicate"`
}

// cleanLogs checks that the service has met nothing unexpected: no panic, no data race, no 500.
func cleanLogs(t *testing.T, s *harness.Stack) {
	t.Helper()

	for _, process := range []*harness.Process{s.API, s.Worker} {
		for line := range strings.Lines(process.Log()) {
			require.NotRegexp(t, `DATA RACE|panic|status=500|level=ERROR`, line)
		}
	}
}

// decoded reads the data of an answer that must have the status.
func decoded[T any](t *testing.T, want int, a harness.Answer) T {
	t.Helper()

	var v T

	require.Equal(t, want, a.Status, "%s", a.Body)
	require.NoError(t, a.Data(&v), "%s", a.Body)

	return v
}

// refused checks that an answer is the error.
func refused(t *testing.T, a harness.Answer, status int, code models.Code) {
	t.Helper()
	require.Equal(t, status, a.Status, "%s", a.Body)
	require.Equal(t, code, a.Code(), "%s", a.Body)
}

// errorDetails are the messages per field of an error answer.
func errorDetails(t *testing.T, a harness.Answer) map[string][]string {
	t.Helper()

	var e struct {
		Error struct {
			Details map[string][]string `json:"details"`
		} `json:"error"`
	}

	require.NoError(t, a.Into(&e), "%s", a.Body)

	return e.Error.Details
}

// refund is what the tests need of a refund.
type refund struct {
	ID          uuid.UUID           `json:"id"`
	BookingID   *uuid.UUID          `json:"booking_id"`
	Transaction *uuid.UUID          `json:"refund_transaction_id"`
	Type        models.RefundType   `json:"refund_type"`
	Amount      models.Money        `json:"amount"`
	Status      models.RefundStatus `json:"status"`
	FailureCode *string             `json:"failure_code"`
	Reason      *string             `json:"reason"`
	RequestedBy *uuid.UUID          `json:"requested_by"`
	CompletedAt *time.Time          `json:"completed_at"`

	PolicyPercent   *int                 `json:"policy_percent"`
	Channel         models.RefundChannel `json:"channel"`
	NeedsPayout     bool                 `json:"needs_payout"`
	ReturnedAt      *time.Time           `json:"returned_at"`
	PayoutReference *string              `json:"payout_reference"`
	PaidOutOn       *string              `json:"paid_out_on"`
	PayoutNote      *string              `json:"payout_note"`
	DecidedBy       *uuid.UUID           `json:"payout_decided_by"`
	DecidedAt       *time.Time           `json:"payout_decided_at"`

	NeedsApproval bool       `json:"needs_approval"`
	ApprovalUntil *time.Time `json:"approval_until"`
	Approval      *approval  `json:"approval"`
	ApprovedBy    *uuid.UUID `json:"approved_by"`
}

// approval is what was decided about a refund.
type approval struct {
	Decision  models.ApprovalDecision `json:"decision"`
	DecidedBy *uuid.UUID              `json:"decided_by"`
	DecidedAt time.Time               `json:"decided_at"`
	Note      *string                 `json:"note"`
}

// approvalPath is where a refund is decided that needs an approval; decision is approve or reject.
func approvalPath(refund uuid.UUID, decision string) string {
	return "/api/v1/admin/refunds/" + refund.String() + "/" + decision
}

// payoutPath is where a manual payout is decided; decision is confirm or reject.
func payoutPath(refund uuid.UUID, decision string) string {
	return "/api/v1/admin/refunds/" + refund.String() + "/" + decision + "-payout"
}

func refundPath(booking uuid.UUID) string {
	return "/api/v1/admin/bookings/" + booking.String() + "/refund"
}

// awaitRefund waits until a refund is decided.
func awaitRefund(t *testing.T, c *harness.Caller, id uuid.UUID) refund {
	t.Helper()

	var r refund

	require.Eventually(t, func() bool {
		r = decoded[refund](t, http.StatusOK, c.Get("/api/v1/admin/refunds/"+id.String()))

		return r.Status != models.RefundPending
	}, patience, refundPoll, "the refund stays PENDING")

	return r
}
