package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

func TestOverdue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := time.Now()
	at := func(later time.Duration) payments.Overdue {
		t.Helper()

		o, err := b.Store.Payments.Overdue(t.Context(), now.Add(later))
		require.NoError(t, err)

		return o
	}
	nothing := payments.Overdue{Incidents: map[models.IncidentKind]int{}}

	require.Equal(t, nothing, at(0))

	today := models.DateIn(now)
	campaign := b.Campaign(t, today.AddDays(2), today.AddDays(3))
	attempt := b.OpenCampaign(t, campaign, 1)
	hold := 30 * time.Minute
	require.Equal(t, nothing, at(hold))
	require.Equal(t, 1, at(hold+11*time.Minute).Payments)

	b.Report(t, attempt, models.EventPaymentSucceeded)
	require.Zero(t, at(hold+11*time.Minute).Payments)
	require.Positive(t, at(hold).Messages)

	require.InDelta(t, 10*time.Minute, at(10*time.Minute).OldestMessage, float64(time.Minute))
	require.Zero(t, at(0).OldestRefund)

	order := func(tx models.PaymentTransaction) {
		t.Helper()

		_, err := b.Store.Refunds.OrderRefund(t.Context(), models.RefundRequest{
			ID: models.NewID(), BookingID: *tx.BookingID, Type: models.RefundFull, RequestedBy: &b.Finance.UserID, Role: b.Finance.Role,
		}, now)
		require.NoError(t, err)
	}

	order(b.PaidBill(t))
	require.Zero(t, at(70*time.Minute).Refunds, "people take their time")

	order(b.Paid(t, 1))
	require.Zero(t, at(50*time.Minute).Refunds)
	require.Equal(t, 1, at(70*time.Minute).Refunds)
	require.InDelta(t, 70*time.Minute, at(70*time.Minute).OldestRefund, float64(time.Minute))

	days := today.AddDays(2).Start().Sub(now)
	require.Zero(t, at(days+9*time.Minute).Campaigns)
	require.Equal(t, 1, at(days+11*time.Minute).Campaigns)

	b.Exec(t, `INSERT INTO incidents (id, kind, message) VALUES (gen_random_uuid(), 'LATE_PAYMENT', 'late')`)
	require.Equal(t, map[models.IncidentKind]int{models.IncidentLatePayment: 1}, at(0).Incidents)
}

// An approval is overdue after a day; the refund an hour after it was approved, and when its time was over 10 minutes ago.
func TestOverdueApprovals(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())
	now := time.Now()
	late := func(later time.Duration) (approvals, refunds int) {
		t.Helper()

		o, err := b.Store.Payments.Overdue(t.Context(), now.Add(later))
		require.NoError(t, err)

		return o.Approvals, o.Refunds
	}
	requireLate := func(later time.Duration, approvals, refunds int) {
		t.Helper()

		gotApprovals, gotRefunds := late(later)
		require.Equal(t, []int{approvals, refunds}, []int{gotApprovals, gotRefunds})
	}
	day := 24 * time.Hour

	r := b.Ask(b.Paid(t, 1), "60.00")
	b.Reserve(t, r)
	requireLate(day-time.Minute, 0, 0)
	requireLate(day+time.Minute, 1, 0)
	requireLate(7*day+11*time.Minute, 1, 1)

	b.DecideApproval(t, bookstest.Approved(r.ID), models.RoleAdmin)
	requireLate(9*time.Minute, 0, 0)
	requireLate(11*time.Minute, 0, 1)

	b.SettleRefund(t, r, models.RefundResult{})
	requireLate(11*time.Minute, 0, 0)
	requireLate(61*time.Minute, 0, 1)
}

// A question about an attempt that has ended is overdue after 10 minutes without an answer; one that was asked, and one about
// an open attempt, are not.
func TestOverdueLateChecks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := time.Now()
	late := func(later time.Duration) int {
		t.Helper()

		o, err := b.Store.Payments.Overdue(t.Context(), now.Add(later))
		require.NoError(t, err)

		return o.LateChecks
	}

	open, ended := b.Open(t, b.Book(t, b.Trip, 1), 1), b.Open(t, b.Book(t, b.Trip, 1), 1)
	_, err := b.WaitForAnswer(t, open.ID, now.Add(time.Minute))
	require.NoError(t, err)
	_, err = b.Store.Payments.EndPayment(t.Context(), ended.ID, models.FailureExpired, "", now)
	require.NoError(t, err)

	require.Zero(t, late(19*time.Minute), "due after 10 minutes")
	require.Equal(t, 1, late(21*time.Minute))
	require.NoError(t, b.Store.Payments.CompleteLateCheck(t.Context(), new(b.Transaction(t, ended.ID)), now.Add(21*time.Minute)))
	require.Zero(t, late(21*time.Minute))
}

// A manual payout waits for people, for days: only what they have decided can be overdue.
func TestOverdueRefunds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := time.Now()
	overdue := func(later time.Duration) int {
		t.Helper()

		o, err := b.Store.Payments.Overdue(t.Context(), now.Add(later))
		require.NoError(t, err)

		return o.Refunds
	}

	byHand := b.Ask(b.PaidBill(t), "15.00")
	require.Equal(t, models.RefundByHand, b.Reserve(t, byHand).Channel)
	require.Zero(t, overdue(48*time.Hour))

	b.Decide(t, bookstest.PaidOut(byHand.ID, "TRF-1"), models.RoleAdmin)
	require.Zero(t, overdue(9*time.Minute))
	require.Equal(t, 1, overdue(11*time.Minute))

	b.SettleRefund(t, byHand, models.RefundResult{})
	require.Zero(t, overdue(48*time.Hour))

	byGateway := b.Ask(b.Paid(t, 1), "15.00")
	b.Reserve(t, byGateway)
	require.Zero(t, overdue(59*time.Minute))
	require.Equal(t, 1, overdue(61*time.Minute))
}

// Money in suspense is overdue without a refund within a day, whatever became of its incident.
func TestOverdueSuspense(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := time.Now()
	overdue := func(later time.Duration) int {
		t.Helper()

		o, err := b.Store.Payments.Overdue(t.Context(), now.Add(later))
		require.NoError(t, err)

		return o.Suspense
	}

	tx := b.took(t, b.Open(t, b.Book(t, b.Trip, 1), 1), "100.00", "SAR")
	_, err := b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, b.Incidents(t)[0].ID, "looked at")
	require.NoError(t, err)
	require.Zero(t, overdue(23*time.Hour))
	require.Equal(t, 1, overdue(25*time.Hour))

	r := b.askBack(tx)
	b.Reserve(t, r)
	require.Zero(t, overdue(25*time.Hour), "it is on its way")

	b.SettleRefund(t, r, models.RefundResult{Status: models.RefundFailed})
	require.Equal(t, 1, overdue(25*time.Hour))

	r = b.askBack(tx)
	b.Reserve(t, r)
	b.SettleRefund(t, r, bookstest.Granted(r))
	require.Zero(t, overdue(25*time.Hour))
}

// Ages are those of the oldest, and money in suspense is added up by channel and currency until it has gone back.
func TestOldestAndHeld(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := time.Now()
	at := func(later time.Duration) payments.Overdue {
		t.Helper()

		o, err := b.Store.Payments.Overdue(t.Context(), now.Add(later))
		require.NoError(t, err)

		return o
	}

	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Amount = new(models.MustMoney("7.00")) }))
	require.InDelta(t, time.Hour, at(time.Hour).OldestEvent, float64(time.Minute))
	require.Empty(t, at(0).Held)

	b.Settle(t, tx, now)
	require.Zero(t, at(time.Hour).OldestEvent)
	require.Equal(t, []payments.Held{{Channel: tx.Channel, Currency: models.Currency, Amount: models.MustMoney("7.00")}}, at(0).Held)
}
