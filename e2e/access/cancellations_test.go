package access_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// paidBooking is a booking of the caller or of a stranger; one that the caller gets something of is paid.
func (w *world) paidBooking(t *testing.T, c cell) []string {
	t.Helper()

	who := c.caller
	if c.kind == "foreign" {
		who = stranger
	}

	if c.want < http.StatusBadRequest {
		return kept(c, w.newPaid(t, who))
	}

	return kept(c, w.bookings[who])
}

// newPaid is a paid booking of a trip of its own.
func (w *world) newPaid(t *testing.T, who string) uuid.UUID {
	t.Helper()

	body := w.BookingRequest(1)
	body["trip_id"] = w.NewTrip("Paid", 1).ID
	a := w.callers[who].Post("/api/v1/bookings", body)
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)

	var b harness.Booking

	require.NoError(t, a.Data(&b))
	require.NoError(t, w.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, w.callers[who].Await(b.ID).PaymentStatus)

	return b.ID
}

// ask asks for the cancellation of a booking that its customer has paid.
func ask(t *testing.T, customer *harness.Caller, booking uuid.UUID) uuid.UUID {
	t.Helper()

	a := customer.Post("/api/v1/bookings/"+booking.String()+"/cancellation-requests", object{"reason": "We cannot come"})
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)

	var r struct {
		ID uuid.UUID `json:"id"`
	}

	require.NoError(t, a.Data(&r))

	return r.ID
}

// requested is a cancellation request of the caller or of a stranger, below its booking.
func (w *world) requested(t *testing.T, c cell) []string {
	t.Helper()

	if c.want >= http.StatusBadRequest {
		return append(w.paidBooking(t, c), uuid.NewString())
	}

	booking := w.newPaid(t, c.caller)

	return append(kept(c, booking), ask(t, w.callers[c.caller], booking).String())
}

// request is one that is undecided.
func (w *world) request(t *testing.T, c cell) []string {
	t.Helper()

	id := uuid.New()
	if c.want == http.StatusOK {
		id = ask(t, w.callers[stranger], w.newPaid(t, stranger))
	}

	return kept(c, id)
}
