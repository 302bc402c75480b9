package resources_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

func cancel(t *testing.T, c *harness.Caller, booking uuid.UUID) harness.Answer {
	t.Helper()

	return call(t, c, http.MethodPost, bookingsPath+"/"+booking.String()+"/cancel", nil)
}

// cancelled cancels a booking and returns it. On a busy machine the gateway may need more than a second to close the checkout, which
// is 202.
func cancelled(t *testing.T, s *harness.Stack, c *harness.Caller, b harness.Booking) harness.Booking {
	t.Helper()

	a := cancel(t, c, b.ID)
	require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, a.Status, "%s", a.Body)

	if a.Status == http.StatusAccepted {
		require.Eventually(t, func() bool { return checkoutStatus(s, b) != "open" }, 30*time.Second, 50*time.Millisecond)
	}

	return decoded[harness.Booking](t, a.Status, a)
}

// checkoutStatus is what the gateway says about a booking's checkout.
func checkoutStatus(s *harness.Stack, b harness.Booking) string {
	for _, c := range s.GatewayLedger().Checkouts {
		if c.ID == *b.Payment.Reference {
			return c.Status
		}
	}

	return ""
}

func seatsTaken(s *harness.Stack) int {
	return s.Count("SELECT seats_taken FROM trips WHERE id = $1", s.World.Trip.ID)
}

func cancelledBookings(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.Book(3)
	require.Equal(t, "open", checkoutStatus(s, b))

	given := cancelled(t, s, customer, b)
	require.Equal(t, models.BookingCancelled, given.Status)
	require.Equal(t, models.TransactionFailed, given.Payment.Status)
	require.Equal(t, models.FailureCancelled, *given.Payment.FailureCode)
	require.Empty(t, given.Payment.CheckoutURL)
	require.Equal(t, given, decoded[harness.Booking](t, http.StatusOK, customer.Get(bookingsPath+"/"+b.ID.String())))
	require.Equal(t, 0, seatsTaken(s))
	require.Equal(t, "canceled", checkoutStatus(s, b), "nobody can pay it any more")

	refused(t, cancel(t, customer, b.ID), http.StatusConflict, models.CodeInvalidState)
	refused(t, customer.Post("/api/v1/payments/booking/"+b.ID.String()+"/intent", object{"payment_method": "wallet_b"}),
		http.StatusConflict, models.CodeBookingNotPayable)

	paid := customer.BookPaid(1)
	refused(t, cancel(t, customer, paid.ID), http.StatusConflict, models.CodeInvalidState)
	require.Equal(t, models.BookingConfirmed, customer.Await(paid.ID).BookingStatus)

	// After a decline there is no open attempt; the booking can be given up all the same.
	declined := customer.Book(2)
	require.NoError(t, s.Pay(*declined.Payment.CheckoutURL, "decline"))
	require.Equal(t, models.FailureDeclined, *customer.Await(declined.ID).FailureCode)
	again := decoded[harness.Booking](t, http.StatusOK, cancel(t, customer, declined.ID))
	require.Equal(t, models.BookingCancelled, again.Status)
	require.Equal(t, models.FailureDeclined, *again.Payment.FailureCode, "what ended before stays as it was")
	require.Equal(t, 1, seatsTaken(s))
}

func whoCancels(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)

	refused(t, cancel(t, s.Anybody(), b.ID), http.StatusUnauthorized, models.CodeUnauthenticated)

	for _, c := range []*harness.Caller{s.For(t).As(models.RoleEndUser), s.As(models.RoleProviderAdmin), s.As(models.RoleProviderStaff)} {
		a := cancel(t, c, b.ID)
		refused(t, a, http.StatusNotFound, models.CodeNotFound)
		require.Equal(t, string(cancel(t, c, uuid.New()).Body), string(a.Body))
	}

	refused(t, cancel(t, s.As(models.RoleFinanceAdmin), b.ID), http.StatusForbidden, models.CodeForbidden)

	require.Equal(t, models.BookingCancelled, cancelled(t, s, s.As(models.RoleSupportAgent), b).Status)
	require.Equal(t, models.BookingCancelled, cancelled(t, s, s.As(models.RoleAdmin), customer.Book(1)).Status)
}

// cancelledAndPaid has the money arrive all the same: it goes back, and operators get an incident.
func cancelledAndPaid(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, admin := s.As(models.RoleEndUser), s.As(models.RoleAdmin)
	b := customer.Book(2)
	require.Equal(t, models.BookingCancelled, cancelled(t, s, customer, b).Status)

	s.PayLate(*b.Payment.Reference)

	var refunds []object

	require.Eventually(t, func() bool {
		refunds = decoded[[]object](t, http.StatusOK, admin.Get("/api/v1/admin/refunds?booking_id="+b.ID.String()))

		return len(refunds) == 1 && refunds[0]["status"] == "SUCCEEDED"
	}, 30*time.Second, 50*time.Millisecond)

	require.InDelta(t, 230, refunds[0]["amount"], 0)

	var incidents []object

	for _, i := range decoded[[]object](t, http.StatusOK, admin.Get("/api/v1/admin/incidents?kind=LATE_PAYMENT&per_page=100")) {
		if i["booking_id"] == b.ID.String() {
			incidents = append(incidents, i)
		}
	}

	require.Len(t, incidents, 1)
	require.Equal(t, b.Payment.TransactionID.String(), incidents[0]["payment_transaction_id"])

	after := decoded[harness.Booking](t, http.StatusOK, customer.Get(bookingsPath+"/"+b.ID.String()))
	require.Equal(t, models.BookingCancelled, after.Status)
	require.Equal(t, 0, seatsTaken(s))

	for _, c := range s.GatewayLedger().Checkouts {
		if c.ID == *b.Payment.Reference {
			require.Equal(t, "230.00", c.RefundedAmount.String())
		}
	}
}

// cancelWhilePaying does both at the same moment, many times: the customer has the seats and has paid, or has neither.
func cancelWhilePaying(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, confirmed := s.As(models.RoleEndUser), 0

	for range 8 {
		b := customer.Book(1)
		paid := make(chan error, 1)

		go func() { paid <- s.Pay(*b.Payment.CheckoutURL, "succeed") }()

		a := cancel(t, customer, b.ID)
		require.NoError(t, <-paid)

		if a.Status != http.StatusOK && a.Status != http.StatusAccepted {
			refused(t, a, http.StatusConflict, models.CodeInvalidState)
			require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)

			confirmed++

			continue
		}

		require.Eventually(t, func() bool {
			for _, c := range s.GatewayLedger().Checkouts {
				if c.ID == *b.Payment.Reference {
					return c.Status == "canceled" || c.Status == "paid" && c.RefundedAmount.Equal(c.Amount)
				}
			}

			return false
		}, 30*time.Second, 50*time.Millisecond, "neither closed nor refunded")
		require.Equal(t, models.BookingCancelled, customer.Await(b.ID).BookingStatus)
	}

	require.Equal(t, confirmed, seatsTaken(s))
	t.Logf("%d of 8 were paid first", confirmed)
}
