//go:build drill

package restore

import (
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/e2e/rig"
	"rihla/models"
	"rihla/worker/reconcile"
)

// openWorkOf is one of everything that waits: for a customer, for people, for a date.
type openWorkOf struct {
	w      *world
	l      *load
	unpaid gen.Booking // its checkout is open
	refund uuid.UUID
}

// openEverything leaves a payment, a refund that needs an approval and an incident open.
func (w *world) openEverything(l *load) *openWorkOf {
	w.Helper()

	o := &openWorkOf{w: w, l: l}

	paid := o.book(6)
	o.pay(paid)

	var refund gen.Refund

	a, err := l.finance.Do(w.Context(), http.MethodPost, "/api/v1/admin/bookings/"+paid.ID.String()+"/refund",
		map[string]any{"refund_type": models.RefundFull}, map[string]string{"Idempotency-Key": uuid.NewString()})
	require.NoError(w, err)
	require.Less(w, a.Status, http.StatusMultipleChoices, string(a.Body))
	require.NoError(w, a.Data(&refund))

	o.refund = refund.ID

	// Money of another amount: in suspense, with an open incident.
	wrong := o.book(1)
	require.NoError(w, w.service.Gateway.Misbehave(map[string]any{"operation": "webhook", "mode": "wrong_amount"}))

	pressed, err := w.service.Gateway.Press(*wrong.Payment.Reference, "succeed")
	require.NoError(w, err)
	require.True(w, pressed)
	eventually(w, time.Minute, "an incident is open and shown", func() bool {
		return w.primary.says("true", database, "SELECT (count(*) > 0)::text FROM incidents WHERE status = 'OPEN' AND shown = 'OPEN'")
	})

	o.unpaid = o.book(1)

	return o
}

func (o *openWorkOf) book(seats int) (b gen.Booking) {
	o.w.Helper()

	body := rig.BookingRequest(o.l.trips[len(o.l.trips)-1], seats, models.MethodCreditCard, uuid.NewString()+"@rihla.test")
	require.NoError(o.w, o.l.customer.Post(o.w.Context(), "/api/v1/bookings", body, &b))
	require.NotNil(o.w, b.Payment.Reference)

	return b
}

func (o *openWorkOf) pay(b gen.Booking) {
	o.w.Helper()

	pressed, err := o.w.service.Gateway.Press(*b.Payment.Reference, "succeed")
	require.NoError(o.w, err)
	require.True(o.w, pressed)
	o.confirmed(b)
}

func (o *openWorkOf) confirmed(b gen.Booking) {
	o.w.Helper()
	eventually(o.w, time.Minute, "the booking is confirmed", func() bool {
		return o.w.primary.says(string(models.BookingConfirmed), database, "SELECT status FROM bookings WHERE id = '"+b.ID.String()+"'")
	})
}

// provePresent: what waits for people has its workflow again.
func (o *openWorkOf) provePresent(r *reconcile.Report) {
	o.w.Helper()
	require.Positive(o.w, r.Started["incidents"], "open incidents are shown again")
	require.Zero(o.w, found(r, reconcile.UnknownMoney))
}

// goOn does what everything waited for.
func (o *openWorkOf) goOn() {
	o.w.Helper()
	o.pay(o.unpaid)

	admin := o.w.logIn("http://"+o.w.api, models.RoleSuperAdmin)
	require.NoError(o.w, admin.Post(o.w.Context(), "/api/v1/admin/refunds/"+o.refund.String()+"/approve", map[string]any{}, nil))
	eventually(o.w, time.Minute, "the approved refund is made", func() bool {
		return o.w.primary.says(string(models.RefundSucceeded), database, "SELECT status FROM refunds WHERE id = '"+o.refund.String()+"'")
	})
}
