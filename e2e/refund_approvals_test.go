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

func noted(note string) map[string]any { return map[string]any{"note": note} }

// dear makes the seats of the test cost more than goes back without an approval.
func dear(s *harness.Stack) { s.World.Trip = s.NewTripAt("6000.00") }

// askedOverTheLimit has finance staff ask for a refund that needs an approval.
func askedOverTheLimit(t *testing.T, s *harness.Stack, b harness.Booking, body any) refund {
	t.Helper()

	began := time.Now()
	a := s.As(models.RoleFinanceAdmin).Post(refundPath(b.ID), body)
	r := decoded[refund](t, http.StatusAccepted, a)
	require.Less(t, time.Since(began), harness.RefundWait, "the requester does not wait for people")
	require.Equal(t, "/api/v1/admin/refunds/"+r.ID.String(), a.Header.Get("Location"))
	require.Equal(t, models.RefundPending, r.Status)
	require.True(t, r.NeedsApproval)
	require.Nil(t, r.Approval)
	require.Nil(t, r.ApprovedBy)
	require.WithinDuration(t, began.Add(models.MaxApprovalWait), *r.ApprovalUntil, time.Minute)

	return r
}

// requireUnsent checks that the gateway has not heard of a booking's refund.
func requireUnsent(t *testing.T, s *harness.Stack, b harness.Booking) {
	t.Helper()

	for _, known := range s.GatewayLedger().Refunds {
		require.NotEqual(t, *b.Payment.Reference, known.CheckoutID)
	}
}

// approvalOfRefunds asks for a refund over the limit, which another user approves.
func approvalOfRefunds(t *testing.T, s *harness.Stack) {
	t.Helper()
	dear(s)

	customer, finance, admin := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)
	b := customer.BookPaid(1)

	quote := decoded[struct {
		NeedsApproval bool `json:"needs_approval"`
	}](t, http.StatusOK, finance.Get(refundPath(b.ID)+"-quote"))
	require.True(t, quote.NeedsApproval)

	r := askedOverTheLimit(t, s, b, fully())
	approve := approvalPath(r.ID, "approve")

	list := func(query string) []refund {
		t.Helper()

		return decoded[[]refund](t, http.StatusOK, finance.Get("/api/v1/admin/refunds?booking_id="+b.ID.String()+query))
	}
	require.Len(t, list("&needs_approval=true"), 1)
	require.Empty(t, list("&needs_approval=false"))
	refused(t, finance.Get("/api/v1/admin/refunds?needs_approval=perhaps"), http.StatusUnprocessableEntity, models.CodeValidation)

	// The amount is reserved, and nothing is sent.
	refused(t, finance.Post(refundPath(b.ID), partly("0.01")), http.StatusConflict, models.CodeRefundExceedsRemaining)
	requireUnsent(t, s, b)
	require.Equal(t, models.BookingConfirmed, statusOf(t, customer, b.ID).BookingStatus)

	refused(t, finance.Post(approve, noted("mine")), http.StatusForbidden, models.CodeForbidden)
	refused(t, customer.Post(approve, noted("mine")), http.StatusForbidden, models.CodeForbidden)
	refused(t, s.As(models.RoleSupportAgent).Post(approve, nil), http.StatusForbidden, models.CodeForbidden)
	refused(t, admin.Post(approvalPath(uuid.New(), "approve"), nil), http.StatusNotFound, models.CodeNotFound)
	refused(t, admin.Post(approvalPath(uuid.New(), "reject"), noted("no")), http.StatusNotFound, models.CodeNotFound)
	require.Contains(t, errorDetails(t, admin.Post(approve, noted(" \t"))), "note")
	require.Contains(t, errorDetails(t, admin.Post(approvalPath(r.ID, "reject"), map[string]any{})), "note")
	require.Contains(t, errorDetails(t, admin.Post(approvalPath(r.ID, "reject"), noted(" "))), "note")

	a := admin.Post(approve, noted("compared with the letter"))
	done := decoded[refund](t, http.StatusOK, a)
	require.Equal(t, models.RefundSucceeded, done.Status)
	require.False(t, done.NeedsApproval)
	require.Equal(t, models.ApprovalApproved, done.Approval.Decision)
	require.Equal(t, s.World.Users[models.RoleAdmin].ID, *done.Approval.DecidedBy)
	require.Equal(t, done.Approval.DecidedBy, done.ApprovedBy)
	require.Equal(t, "compared with the letter", *done.Approval.Note)
	require.Equal(t, done, refundByID(t, s, r.ID))
	require.Empty(t, list("&needs_approval=true"))

	require.Equal(t, string(a.Body), string(admin.Post(approve, nil).Body), "the same again, without a note")
	refused(t, s.As(models.RoleSuperAdmin).Post(approve, nil), http.StatusConflict, models.CodeInvalidState)
	refused(t, admin.Post(approvalPath(r.ID, "reject"), noted("no")), http.StatusConflict, models.CodeInvalidState)
	require.Equal(t, models.BookingCancelled, statusOf(t, customer, b.ID).BookingStatus)
	requireRefunded(t, s, b, b.Amount, 1)

	require.Equal(t, 1, s.Count("SELECT count(*) FROM audit_log WHERE entity_id = $1 AND action = 'REFUND_APPROVED'", r.ID))
}

// refundNotApproved has refunds withdrawn by their requester and rejected by another user; and decides about some that need no approval.
func refundNotApproved(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, admin := s.As(models.RoleEndUser), s.As(models.RoleAdmin)
	small := decoded[refund](t, http.StatusCreated, s.As(models.RoleFinanceAdmin).Post(refundPath(customer.BookPaid(1).ID), fully()))
	require.False(t, small.NeedsApproval)
	require.Nil(t, small.ApprovalUntil)
	refused(t, admin.Post(approvalPath(small.ID, "approve"), nil), http.StatusConflict, models.CodeInvalidState)
	refused(t, admin.Post(approvalPath(small.ID, "reject"), noted("no")), http.StatusConflict, models.CodeInvalidState)

	dear(s)

	b := customer.BookPaid(1)

	for _, role := range []models.Role{models.RoleFinanceAdmin, models.RoleSuperAdmin} {
		r, by := askedOverTheLimit(t, s, b, fully()), s.As(role)
		reject := approvalPath(r.ID, "reject")

		done := decoded[refund](t, http.StatusOK, by.Post(reject, noted("The customer travels")))
		require.Equal(t, models.RefundFailed, done.Status)
		require.Equal(t, "APPROVAL_REJECTED", *done.FailureCode)
		require.Equal(t, models.ApprovalRejected, done.Approval.Decision)
		require.Equal(t, "The customer travels", *done.Approval.Note)
		require.Nil(t, done.ApprovedBy)
		decoded[refund](t, http.StatusOK, by.Post(reject, noted("The customer travels")))
		refused(t, by.Post(reject, noted("another reason")), http.StatusConflict, models.CodeInvalidState)
		refused(t, admin.Post(approvalPath(r.ID, "approve"), nil), http.StatusConflict, models.CodeInvalidState)
		require.Equal(t, 0, s.Count("SELECT count(*) FROM incidents WHERE refund_id = $1", r.ID))
	}

	require.Equal(t, models.BookingConfirmed, statusOf(t, customer, b.ID).BookingStatus)
	require.Equal(t, models.TransactionPaid, statusOf(t, customer, b.ID).PaymentStatus)
	requireUnsent(t, s, b)
}

// approvalOfABill waits for its approval first, and then for its payout.
func approvalOfABill(t *testing.T, s *harness.Stack) {
	t.Helper()
	dear(s)

	admin := s.As(models.RoleAdmin)
	b := s.As(models.RoleEndUser).BookBilled(1)
	r := askedOverTheLimit(t, s, b, fully())
	require.False(t, r.NeedsPayout)
	require.Equal(t, 0, waitingFor(t, s, b.ID))
	refused(t, admin.Post(payoutPath(r.ID, "confirm"), confirmation("TRF-1")), http.StatusConflict, models.CodeInvalidState)
	refused(t, admin.Post(payoutPath(r.ID, "reject"), rejection("no")), http.StatusConflict, models.CodeInvalidState)

	approved := decoded[refund](t, http.StatusAccepted, admin.Post(approvalPath(r.ID, "approve"), nil))
	require.True(t, approved.NeedsPayout)
	require.False(t, approved.NeedsApproval)
	require.Equal(t, 1, waitingFor(t, s, b.ID))

	done := decoded[refund](t, http.StatusOK, admin.Post(payoutPath(r.ID, "confirm"), confirmation("TRF-1")))
	require.Equal(t, models.RefundSucceeded, done.Status)
	requireRefunded(t, s, b, b.Amount, 1)
}

// approvalOfParts splits an amount over the limit: by several requests at once, and by several persons.
func approvalOfParts(t *testing.T, s *harness.Stack) {
	t.Helper()
	s.World.Trip = s.NewTripAt("9000.00")

	finance, admin := s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)
	b := s.As(models.RoleEndUser).BookPaid(1)

	waiting := 0

	for _, a := range atOnce(3, func(int) harness.Answer { return post(finance, refundPath(b.ID), partly("2000.00"), uuid.NewString()) }) {
		var r refund

		require.Contains(t, []int{http.StatusCreated, http.StatusAccepted}, a.Status, "%s", a.Body)
		require.NoError(t, a.Data(&r))

		if r.NeedsApproval {
			waiting++
		}
	}

	require.Equal(t, 1, waiting, "two are within the limit")
	require.Equal(t, 1, s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1 AND approval_pending", b.ID))
	require.Equal(t, models.RefundPending, decoded[refund](t, http.StatusAccepted, admin.Post(refundPath(b.ID), partly("1500.00"))).Status,
		"another person has no limit of their own")
}

// racingApprovals approves, rejects and withdraws the same refund at the same moment: all who agree with the first are answered 200.
func racingApprovals(t *testing.T, s *harness.Stack) {
	t.Helper()
	dear(s)

	callers := []*harness.Caller{s.As(models.RoleAdmin), s.As(models.RoleSuperAdmin), s.As(models.RoleFinanceAdmin)}

	for range 6 {
		b := s.As(models.RoleEndUser).BookPaid(1)
		r := askedOverTheLimit(t, s, b, partly("5500.00"))

		answers := atOnce(6, func(i int) harness.Answer {
			if i%3 == 0 {
				return post(callers[0], approvalPath(r.ID, "approve"), noted("yes"), uuid.NewString())
			}

			return post(callers[i%3], approvalPath(r.ID, "reject"), noted("no"), uuid.NewString())
		})

		won := map[int]int{}

		for i, a := range answers {
			if a.Status == http.StatusOK || a.Status == http.StatusAccepted {
				won[i%3]++

				continue
			}

			refused(t, a, http.StatusConflict, models.CodeInvalidState)
		}

		require.Len(t, won, 1, "one decision, by one person")

		done := awaitRefund(t, callers[0], r.ID)
		require.Equal(t, won[0] == 2, done.Status == models.RefundSucceeded)
	}
}

// approvalRacesCancel decides about refunds at the moment at which an operator cancels their workflows: what was decided is done by
// another run, once.
func approvalRacesCancel(t *testing.T, s *harness.Stack) {
	t.Helper()
	dear(s)

	admin, want := s.As(models.RoleAdmin), map[uuid.UUID]models.RefundStatus{}

	for i := range 6 {
		b := s.As(models.RoleEndUser).BookPaid(1)
		r := askedOverTheLimit(t, s, b, fully())

		decision := "approve"
		if want[r.ID] = models.RefundSucceeded; i%3 == 2 {
			decision, want[r.ID] = "reject", models.RefundFailed
		}

		for _, a := range atOnce(2, func(i int) harness.Answer {
			if i == 0 {
				return post(admin, approvalPath(r.ID, decision), noted("compared"), uuid.NewString())
			}

			if err := s.Temporal.CancelWorkflow(t.Context(), models.RefundWorkflowID(r.ID), ""); err != nil {
				t.Logf("the workflow has ended before: %v", err)
			}

			return harness.Answer{Status: http.StatusOK}
		}) {
			require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, a.Status, "%s", a.Body)
		}
	}

	for id, status := range want {
		require.Equal(t, status, awaitRefund(t, admin, id).Status)

		made := 0

		for _, known := range s.GatewayLedger().Refunds {
			if known.MerchantReference == id.String() {
				made++
			}
		}

		require.Equal(t, status == models.RefundSucceeded, made == 1, "%d refunds at the gateway", made)
	}
}

// TestApprovalsExpire: what is not approved in time fails by its workflow's timer, and can be asked for again.
func TestApprovalsExpire(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"REFUND_APPROVAL_ABOVE": "100.00", "REFUND_APPROVAL_WAIT": "2s"}})
	finance, admin := s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)

	for _, b := range []harness.Booking{s.As(models.RoleEndUser).BookPaid(1), s.As(models.RoleEndUser).BookBilled(1)} {
		r := decoded[refund](t, http.StatusAccepted, finance.Post(refundPath(b.ID), fully()))
		require.True(t, r.NeedsApproval)

		done := awaitRefund(t, finance, r.ID)
		require.Equal(t, models.RefundFailed, done.Status)
		require.Equal(t, "APPROVAL_EXPIRED", *done.FailureCode)
		require.Equal(t, models.ApprovalExpired, done.Approval.Decision)
		require.Nil(t, done.Approval.DecidedBy)
		requireRefundIncident(t, s, r.ID)
		requireUnsent(t, s, b)
		refused(t, admin.Post(approvalPath(r.ID, "approve"), nil), http.StatusConflict, models.CodeInvalidState)

		// Within the limit it needs no approval.
		part := finance.Post(refundPath(b.ID), partly("100.00"))
		require.Contains(t, []int{http.StatusCreated, http.StatusAccepted}, part.Status, "%s", part.Body)
	}

	cleanLogs(t, s)
}
