package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// cancelQuote is what a cancellation comes to.
type cancelQuote struct {
	Passengers []uuid.UUID  `json:"passenger_ids"`
	Paid       models.Money `json:"paid_amount"`
	Refund     models.Money `json:"refund_amount"`
	Fee        models.Money `json:"fee_amount"`
	Percent    int          `json:"policy_percent"`

	// Of a quote of the moment only.
	Full  *models.Money `json:"full_amount"`
	Waits *bool         `json:"needs_approval"`
}

// soldBooking is a booking as its customer sees it, with its passengers and what went back.
type soldBooking struct {
	Status     models.BookingStatus `json:"status"`
	Seats      int                  `json:"seats"`
	Refunded   models.Money         `json:"refunded_amount"`
	Fee        models.Money         `json:"cancellation_fee"`
	Passengers []struct {
		ID     uuid.UUID              `json:"id"`
		Status models.PassengerStatus `json:"status"`
	} `json:"passengers"`
	Refunds []struct {
		ID     uuid.UUID           `json:"id"`
		Status models.RefundStatus `json:"status"`
		Until  *string             `json:"expected_by"`
	} `json:"refunds"`
	Requests []cancelRequest `json:"cancellation_requests"`
}

type cancelRequest struct {
	ID     uuid.UUID                        `json:"id"`
	Status models.CancellationRequestStatus `json:"status"`
	Quote  cancelQuote                      `json:"quote"`
	Refund *uuid.UUID                       `json:"refund_id"`
	Note   *string                          `json:"note"`

	// For staff only; the second one while it is undecided.
	Decider  *string      `json:"decided_by_name"`
	Approval *cancelQuote `json:"approval_quote"`
}

// cancelledBooking is the answer to a cancellation by staff.
type cancelledBooking struct {
	Booking soldBooking               `json:"booking"`
	Status  models.CancellationStatus `json:"cancellation_status"`
	Refund  *uuid.UUID                `json:"refund_id"`
	Amount  models.Money              `json:"refund_amount"`
}

func bookingAs(t *testing.T, c *harness.Caller, id uuid.UUID) soldBooking {
	t.Helper()

	return decoded[soldBooking](t, http.StatusOK, c.Get(bookingsPath+"/"+id.String()))
}

// A customer asks for one of three to be cancelled, finance staff approve; the rest go by staff. Every halala is accounted for.
func TestCancelOneOfThree(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"CANCELLATION_POLICY": "0h:33"}})
	customer, finance, support := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleSupportAgent)
	b := customer.BookPaid(3)
	path := bookingsPath + "/" + b.ID.String()
	require.Equal(t, "0.00", bookingAs(t, customer, b.ID).Fee.String())

	all := decoded[cancelQuote](t, http.StatusOK, support.Get(path+"/cancellation-quote"))
	require.Len(t, all.Passengers, 3)
	require.Equal(t, b.Amount.String(), all.Paid.String())
	require.Equal(t, all.Paid.Sub(all.Refund).String(), all.Fee.String())
	require.Equal(t, b.Amount.String(), all.Full.String())
	require.False(t, *all.Waits)

	refused(t, customer.Get(path+"/cancellation-quote?passenger_ids="+uuid.NewString()), http.StatusUnprocessableEntity, models.CodeValidation)

	one := all.Passengers[1]
	asked := decoded[cancelRequest](t, http.StatusCreated, customer.Post(path+"/cancellation-requests", map[string]any{
		"passenger_ids": []uuid.UUID{one}, "reason": "One of us is ill",
	}))
	require.Nil(t, asked.Quote.Full, "it is of another moment")
	refused(t, customer.Post(path+"/cancellation-requests", map[string]any{}), http.StatusConflict, models.CodeInvalidState)

	waiting := decoded[[]cancelRequest](t, http.StatusOK, support.Get("/api/v1/admin/cancellation-requests?status=REQUESTED"))
	require.Len(t, waiting, 1)

	request := "/api/v1/admin/cancellation-requests/" + asked.ID.String()
	open := decoded[cancelRequest](t, http.StatusOK, support.Get(request))
	require.Equal(t, asked.Quote.Refund.String(), open.Approval.Refund.String())
	require.False(t, *open.Approval.Waits)
	require.Nil(t, open.Decider)

	approved := decoded[cancelRequest](t, http.StatusOK,
		finance.Post(request+"/approve", map[string]any{"note": "Get well soon"}))
	require.Equal(t, models.CancellationApproved, approved.Status)
	require.NotNil(t, approved.Refund)
	require.Equal(t, s.World.Users[models.RoleFinanceAdmin].Name, *approved.Decider)
	require.Equal(t, approved, decoded[cancelRequest](t, http.StatusOK, support.Get(request)))
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, *approved.Refund).Status)

	seen := bookingAs(t, customer, b.ID)
	require.Equal(t, models.BookingConfirmed, seen.Status)
	require.Equal(t, 2, seen.Seats)
	require.Equal(t, models.PassengerCancelled, seen.Passengers[1].Status)
	require.Equal(t, models.PassengerConfirmed, seen.Passengers[2].Status)
	require.Equal(t, asked.Quote.Refund.String(), seen.Refunded.String())
	require.Equal(t, asked.Quote.Fee.String(), seen.Fee.String())
	require.NotNil(t, seen.Refunds[0].Until)
	require.Equal(t, models.CancellationApproved, seen.Requests[0].Status)
	require.Nil(t, seen.Requests[0].Decider, "customers do not see who it was")

	company := s.As(models.RoleProviderStaff).Get("/api/v1/provider/trips/" + s.World.Trip.ID.String() + "/bookings")
	require.Equal(t, 2, strings.Count(string(company.Body), `"document_number"`), "the passenger list is shorter")

	done := decoded[cancelledBooking](t, http.StatusOK, finance.Post("/api/v1/admin/bookings/"+b.ID.String()+"/cancel", map[string]any{
		"refund": "POLICY", "cause": "CUSTOMER_CANCELLED", "reason": "They called",
	}))
	require.Equal(t, models.BookingCancelled, done.Booking.Status)
	require.Equal(t, all.Refund.String(), asked.Quote.Refund.Add(done.Amount).String(), "the parts add up")
	require.Equal(t, all.Fee.String(), done.Booking.Fee.String())
	require.Equal(t, all.Fee.String(), bookingAs(t, support, b.ID).Fee.String())
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, *done.Refund).Status)
	require.Zero(t, s.Count("SELECT seats_taken FROM trips WHERE id = $1", s.World.Trip.ID))
}

// A gateway that refuses for good does not bring the seats back.
func TestRefusedRefundOfACancelledBooking(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer, finance, admin := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)
	b := customer.BookPaid(1)

	s.Fault(map[string]any{"operation": "refund", "mode": "reject", "times": 1})

	done := decoded[cancelledBooking](t, http.StatusOK,
		finance.Post("/api/v1/admin/bookings/"+b.ID.String()+"/cancel", map[string]any{"refund": "FULL", "cause": "SERVICE_NOT_PROVIDED"}))
	require.Equal(t, models.BookingCancelled, done.Booking.Status)

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM refunds WHERE id = $1 AND status = 'PENDING' AND channel = 'MANUAL'", *done.Refund) == 1
	}, patience, refundPoll, "the refund becomes a manual payout")
	require.Equal(t, 1, s.Count("SELECT count(*) FROM incidents WHERE refund_id = $1 AND status = 'OPEN'", *done.Refund))

	paid := decoded[refund](t, http.StatusOK, admin.Post(payoutPath(*done.Refund, "confirm"), map[string]any{"payout_reference": "TRF-77"}))
	require.Equal(t, *done.Refund, paid.ID)
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, *done.Refund).Status)
	require.Equal(t, models.BookingCancelled, bookingAs(t, customer, b.ID).Status)
}
