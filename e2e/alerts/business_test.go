//go:build drill

package alerts_test

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// wrongAmount has the gateway take another amount than was asked, and it stays for more than a day.
func wrongAmount(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)

	s.Fault(map[string]any{"operation": "webhook", "mode": "wrong_amount", "times": 1})

	b := customer.Book(1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionFailed, customer.Await(b.ID).PaymentStatus)

	id := b.Payment.TransactionID.String()
	d.execute(t, "UPDATE payment_transactions SET suspense_at = suspense_at - interval '25 hours' WHERE id = '"+id+"'")
	d.provoke(t, "the gateway took another amount, a day ago", nothing, func() {
		a := finance.Post("/api/v1/admin/payment-transactions/"+id+"/refund", map[string]any{})
		require.Less(t, a.Status, http.StatusMultipleChoices, "%s", a.Body)
		resolveAll(t, s)
	}, "RihlaSuspense", "RihlaIncident")
}

// resolveAll resolves every open incident.
func resolveAll(t *testing.T, s *harness.Stack) {
	t.Helper()

	var open []struct {
		ID uuid.UUID `json:"id"`
	}

	finance := s.As(models.RoleFinanceAdmin)
	require.NoError(t, new(finance.Get("/api/v1/admin/incidents?status=OPEN&per_page=100")).Data(&open))

	for _, incident := range open {
		a := finance.Post("/api/v1/admin/incidents/"+incident.ID.String()+"/resolve", map[string]string{"note": "Drill"})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	}
}

// backupMissed has no backup succeed for more than a day.
func backupMissed(t *testing.T, d *drill) {
	t.Helper()

	at := time.Now().Add(-27 * time.Hour)
	require.NoError(t, os.Chtimes(d.stamp, at, at))
	d.provoke(t, "no backup for 27 hours", nothing, func() {
		require.NoError(t, os.Chtimes(d.stamp, time.Now(), time.Now()))
	}, "RihlaBackupOld")
}

// redisAway takes the Redis of one of two API processes away.
func redisAway(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	ask := func() {
		_, _ = d.replica.With(s.As(models.RoleEndUser).Token()).Do(http.MethodGet, "/api/v1/me", nil, nil)
	}

	ask()
	d.redis.Close()
	d.provoke(t, "Redis of one API process away", side(1, time.Second, ask), func() {
		require.NoError(t, d.redis.Restart())
		d.during(t, side(1, time.Second, ask), func() { d.await(t, false, []string{"RihlaLimitsNotShared"}) })
	}, "RihlaLimitsNotShared")
}

// forged sends webhooks that the gateway did not sign.
func forged(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	body := paidEvent(t, s.As(models.RoleEndUser).BookPaid(1))

	d.provoke(t, "webhooks with invalid signatures", side(1, 300*time.Millisecond, func() { deliver(s, body, false) }), func() {}, "RihlaForgedWebhooks")
}

// strangers cause more mails to addresses that were never verified than an hour may have. The hour passes.
func strangers(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	register := func() {
		_, _ = s.Anybody().Do(http.MethodPost, "/api/v1/auth/register", map[string]string{
			"name": "Drill", "email": uuid.NewString() + "@rihla.test", "phone": "+966500000009", "password": "correct-horse-battery",
		}, nil)
	}

	d.provoke(t, "registrations over `STRANGER_MAILS_PER_HOUR`", side(1, time.Second, register), func() {
		d.execute(t, "UPDATE stranger_counts SET hour = hour - interval '1 hour'")
	}, "RihlaStrangerMails")
}

// dearRefund has finance staff order a refund over all limits, which is not approved for a day.
func dearRefund(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	s.World.Trip = s.NewTripAt("6000.00")
	b := s.As(models.RoleEndUser).BookPaid(4)

	a := s.As(models.RoleFinanceAdmin).Post("/api/v1/admin/bookings/"+b.ID.String()+"/refund", map[string]any{"refund_type": models.RefundFull})
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)

	var refund struct {
		ID uuid.UUID `json:"id"`
	}

	require.NoError(t, a.Data(&refund))
	d.execute(t, "UPDATE refunds SET created_at = created_at - interval '25 hours' WHERE id = '"+refund.ID.String()+"'")
	d.provoke(t, "a refund of 27,600 SAR, not approved for 25 hours", nothing, func() {
		done := s.As(models.RoleAdmin).Post("/api/v1/admin/refunds/"+refund.ID.String()+"/approve", map[string]any{"note": "Drill"})
		require.Less(t, done.Status, http.StatusMultipleChoices, "%s", done.Body)
	}, "RihlaRefundsOrdered", "RihlaApprovals")
}

// declines has most payments fail.
func declines(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)

	d.provoke(t, "the gateway declines all payments", side(3, 100*time.Millisecond, bookAnd(s, s.As(models.RoleEndUser), "decline")),
		func() {}, "RihlaPaymentsFail")
}

// tablesLocked has a session lock tables that all lists read.
func tablesLocked(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	lock := func() {
		tx, err := s.DB.BeginTx(context.WithoutCancel(t.Context()), nil)
		if err != nil {
			return
		}

		if _, err := tx.ExecContext(context.WithoutCancel(t.Context()), "LOCK TABLE trips, bookings IN ACCESS EXCLUSIVE MODE"); err == nil {
			_, _ = tx.ExecContext(context.WithoutCancel(t.Context()), "SELECT pg_sleep(4)")
		}

		_ = tx.Rollback()
	}
	customer := s.As(models.RoleEndUser)

	d.provoke(t, "tables locked for seconds, again and again", both(
		side(1, 300*time.Millisecond, lock), side(30, 50*time.Millisecond, asks(customer, "/api/v1/my/bookings")),
	), func() {}, "RihlaSlow", "RihlaPoolExhausted")
}

// paymentsLocked has a session lock payments while they are settled.
func paymentsLocked(t *testing.T, d *drill) {
	t.Helper()

	const payments = 45

	s := d.view(t)
	customer := s.As(models.RoleEndUser)

	open := make([]harness.Booking, payments)
	for i := range open {
		open[i] = customer.Book(1)
	}

	locked := func(ctx context.Context) {
		tx, err := s.DB.BeginTx(context.WithoutCancel(ctx), nil)
		if err != nil {
			return
		}

		_, _ = tx.ExecContext(ctx, "SELECT id FROM payment_transactions WHERE status = 'PENDING' FOR NO KEY UPDATE")

		for _, b := range open {
			_ = s.Pay(*b.Payment.CheckoutURL, "succeed")
		}

		<-ctx.Done()
		_ = tx.Rollback()
	}

	d.provoke(t, "a session locks 45 payments that are being settled", locked, func() {
		// How long a task has waited is counted when it starts, which is now.
		released := time.Now()
		waited := []string{"RihlaTasksWait"}
		d.await(t, true, waited)

		started := time.Now()

		d.await(t, false, waited)
		d.note(waited[0], "the lock released, after tasks have waited for it", released, started, true)
	}, "RihlaSlotsExhausted")
}

// tooMany starts more payments at once than an API process admits.
func tooMany(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	customer := d.replica.With(s.As(models.RoleEndUser).Token())

	d.provoke(t, "payments started over `ADMISSION_MAX`", side(8, 50*time.Millisecond, bookAnd(s, customer, "")), func() {}, "RihlaAdmission")
}
