package e2e_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

const (
	transactionsPath = "/api/v1/admin/payment-transactions"
	incidentsPath    = "/api/v1/admin/incidents"
)

type auditEntry struct {
	ID        uuid.UUID      `json:"id"`
	ActorID   *uuid.UUID     `json:"actor_id"`
	Role      models.Role    `json:"actor_role"`
	Action    string         `json:"action"`
	Entity    string         `json:"entity"`
	EntityID  *uuid.UUID     `json:"entity_id"`
	Details   map[string]any `json:"details"`
	RequestID string         `json:"request_id"`
}

type incident struct {
	ID            uuid.UUID           `json:"id"`
	Kind          models.IncidentKind `json:"kind"`
	Status        string              `json:"status"`
	TransactionID *uuid.UUID          `json:"payment_transaction_id"`
	RefundID      *uuid.UUID          `json:"refund_id"`
	Details       map[string]any      `json:"details"`
	WorkflowID    *string             `json:"workflow_id"`
	ResolvedAt    *time.Time          `json:"resolved_at"`
	ResolvedBy    *uuid.UUID          `json:"resolved_by"`
	Note          *string             `json:"note"`
}

func transactions(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, support := s.As(models.RoleEndUser), s.As(models.RoleSupportAgent)
	b := customer.Book(1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "decline"))
	customer.Await(b.ID)

	next := decoded[transaction](t, http.StatusCreated, customer.Post(intentPath(b.ID), map[string]any{"payment_method": "wallet_b"}))
	require.NoError(t, s.Pay(*next.CheckoutURL, "succeed"))
	customer.Await(b.ID)

	back := decoded[refund](t, http.StatusCreated, s.As(models.RoleFinanceAdmin).Post(refundPath(b.ID), partly("15.00")))

	ids := func(query string) (out []uuid.UUID) {
		for _, x := range decoded[[]transaction](t, http.StatusOK, support.Get(transactionsPath+"?booking_id="+b.ID.String()+query)) {
			out = append(out, x.ID)
		}

		return out
	}
	first, second, third := b.Payment.TransactionID, next.ID, *back.Transaction

	require.Equal(t, []uuid.UUID{third, second, first}, ids(""))
	require.Equal(t, []uuid.UUID{first, second, third}, ids("&sort=created_at"))
	require.Equal(t, third, ids("&sort=amount")[0])
	require.Equal(t, []uuid.UUID{first}, ids("&status=FAILED"))
	require.Equal(t, []uuid.UUID{second}, ids("&status=PAID"))
	require.Equal(t, []uuid.UUID{third}, ids("&status=PARTIAL_REFUND"))
	require.Equal(t, []uuid.UUID{first}, ids("&provider=gateway_a"))
	require.ElementsMatch(t, []uuid.UUID{second, third}, ids("&payment_method=wallet_b"))
	require.Equal(t, []uuid.UUID{first}, ids("&reference="+*b.Payment.Reference))
	require.Empty(t, ids("&reference="+(*b.Payment.Reference)[1:]))
	require.Len(t, ids("&period=today"), 3)
	require.Empty(t, ids("&period=custom&date_from=2020-01-01&date_to=2020-01-02"))
	require.Empty(t, ids("&ad_campaign_id="+uuid.NewString()))
}

// timeline reads what happened to a payment, as an operator does.
func timeline(t *testing.T, s *harness.Stack) {
	t.Helper()

	b := s.As(models.RoleEndUser).BookPaid(1)
	decoded[refund](t, http.StatusCreated, s.As(models.RoleFinanceAdmin).Post(refundPath(b.ID), partly("15.00")))

	type entry struct {
		At      time.Time      `json:"at"`
		Kind    string         `json:"kind"`
		Message string         `json:"message"`
		Details map[string]any `json:"details"`
	}

	type told struct {
		WorkflowID string  `json:"workflow_id"`
		Timeline   []entry `json:"timeline"`
	}

	path := transactionsPath + "/" + b.Payment.TransactionID.String()

	var story told

	require.Eventually(t, func() bool { // the notifications are sent a moment later
		story = decoded[told](t, http.StatusOK, s.As(models.RoleSupportAgent).Get(path))
		sent := 0

		for _, e := range story.Timeline {
			if e.Kind == "NOTIFICATION" && e.Details["status"] == "SENT" {
				sent++
			}
		}

		return sent >= 8 // two kinds by two channels, each queued and sent
	}, patience, refundPoll)

	require.Equal(t, models.PaymentWorkflowID(b.Payment.TransactionID), story.WorkflowID)
	require.True(t, slices.IsSortedFunc(story.Timeline, func(a, b entry) int { return a.At.Compare(b.At) }), "in order")

	first := func(kind string) int {
		return slices.IndexFunc(story.Timeline, func(e entry) bool { return e.Kind == kind })
	}
	require.Equal(t, 0, first("STATE_CHANGE"), "it begins with the attempt")
	require.Less(t, first("STATE_CHANGE"), first("WEBHOOK"))
	require.Less(t, first("WEBHOOK"), first("LEDGER"))
	require.Less(t, first("LEDGER"), first("NOTIFICATION"))
	require.Less(t, first("NOTIFICATION"), first("REFUND"))

	for _, e := range story.Timeline {
		require.NotEmpty(t, e.Message)
		require.NotContains(t, e.Message, "@")
	}

	refused(t, s.As(models.RoleSupportAgent).Get(transactionsPath+"/"+uuid.NewString()), http.StatusNotFound, models.CodeNotFound)
}

// incidents reports wrong amounts and currencies, after which nothing more may happen by itself, and resolves them.
func incidents(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)

	for kind, change := range map[models.IncidentKind]func(data map[string]any){
		models.IncidentAmountMismatch:   func(data map[string]any) { data["amount"] = models.MustMoney("114.99") },
		models.IncidentCurrencyMismatch: func(data map[string]any) { data["currency"] = "USD" },
	} {
		b := customer.Book(1)
		wrong := eventOf(b, models.EventPaymentSucceeded)
		change(wrong["data"].(map[string]any))
		require.False(t, decoded[receipt](t, http.StatusOK, deliver(s, models.ChannelGatewayA, uuid.NewString(), wrong)).Duplicate)

		status := customer.Await(b.ID)
		require.Equal(t, models.TransactionFailed, status.PaymentStatus)
		require.Equal(t, string(kind), string(*status.FailureCode))
		require.Equal(t, models.BookingPendingPayment, status.BookingStatus)

		// The mismatch is final: the right amount comes too late.
		decoded[receipt](t, http.StatusOK, deliver(s, models.ChannelGatewayA, uuid.NewString(), eventOf(b, models.EventPaymentSucceeded)))
		require.Eventually(t, func() bool {
			return s.Count("SELECT count(*) FROM webhook_events WHERE transaction_id = $1 AND processed_at IS NULL", b.Payment.TransactionID) == 0
		}, patience, refundPoll)
		require.Equal(t, 0, s.Count("SELECT count(*) FROM financial_records WHERE booking_id = $1", b.ID))
		require.Equal(t, models.TransactionFailed, customer.Await(b.ID).PaymentStatus)

		open := decoded[[]incident](t, http.StatusOK, finance.Get(incidentsPath+"?status=OPEN&per_page=100&kind="+string(kind)))
		at := slices.IndexFunc(open, func(i incident) bool { return *i.TransactionID == b.Payment.TransactionID })
		require.GreaterOrEqual(t, at, 0)
		require.NotEmpty(t, open[at].Details)
		require.Equal(t, models.PaymentWorkflowID(b.Payment.TransactionID), *open[at].WorkflowID)

		path := incidentsPath + "/" + open[at].ID.String() + "/resolve"
		done := decoded[incident](t, http.StatusOK, finance.Post(path, map[string]string{"note": "Asked the gateway"}))
		require.Equal(t, "RESOLVED", done.Status)
		require.Equal(t, "Asked the gateway", *done.Note)
		require.Equal(t, s.World.Users[models.RoleFinanceAdmin].ID, *done.ResolvedBy)
		require.NotNil(t, done.ResolvedAt)
		refused(t, finance.Post(path, map[string]string{"note": "Again"}), http.StatusConflict, models.CodeInvalidState)
		refused(t, finance.Post(path, map[string]string{"note": "  "}), http.StatusUnprocessableEntity, models.CodeValidation)
	}

	refused(t, finance.Post(incidentsPath+"/"+uuid.NewString()+"/resolve", map[string]string{"note": "x"}), http.StatusNotFound, models.CodeNotFound)
}

func auditLog(t *testing.T, s *harness.Stack) {
	t.Helper()

	finance, who := s.As(models.RoleFinanceAdmin), s.World.Users[models.RoleFinanceAdmin].ID
	b := s.As(models.RoleEndUser).BookPaid(1)
	require.Equal(t, http.StatusOK, finance.Post(markPath(entriesOf(t, s, b.ID)[0].ID), nil).Status)

	// A refund's request id travels through its workflow, whose history is plain text: only a UUID does.
	trace := uuid.NewString()
	a, err := finance.Do(http.MethodPost, refundPath(b.ID), partly("15.00"), map[string]string{"X-Request-ID": trace})
	require.NoError(t, err)
	require.Equal(t, trace, a.Header.Get("X-Request-ID"))

	r := decoded[refund](t, http.StatusCreated, a)
	admin := s.As(models.RoleSuperAdmin)
	entries := decoded[[]auditEntry](t, http.StatusOK, admin.Get(auditLogs+"?sort=created_at&actor_id="+who.String()))
	entries = slices.DeleteFunc(entries, func(e auditEntry) bool { return e.Action == "LOGGED_IN" })
	require.Len(t, entries, 2)
	require.Equal(t, "FINANCIAL_RECORD_TRANSFERRED", entries[0].Action)
	require.Equal(t, "REFUND_REQUESTED", entries[1].Action)
	require.Equal(t, r.ID, *entries[1].EntityID)
	require.Equal(t, trace, entries[1].RequestID)
	require.Equal(t, models.RoleFinanceAdmin, entries[1].Role)
	require.Len(t, decoded[[]auditEntry](t, http.StatusOK, admin.Get(auditLogs+"?action=REFUND_REQUESTED&period=today&actor_id="+who.String())), 1)
	require.Empty(t, decoded[[]auditEntry](t, http.StatusOK, admin.Get(auditLogs+"?action=NOTHING")))
}
