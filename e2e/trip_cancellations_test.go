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

// tripPreview is what calling a trip off would come to.
type tripPreview struct {
	Bookings      int          `json:"bookings"`
	Seats         int          `json:"seats"`
	RefundTotal   models.Money `json:"refund_total"`
	ClawbackTotal models.Money `json:"clawback_total"`
	OpenCheckouts int          `json:"open_checkouts"`
	Campaigns     int          `json:"campaigns"`
	NeedsApproval bool         `json:"needs_approval"`
	CampaignsBack models.Money `json:"campaign_refund_total"` // of a preview
}

// tripCancellation is how far the cancellation of a trip is.
type tripCancellation struct {
	tripPreview

	ID        uuid.UUID                     `json:"id"`
	Title     string                        `json:"trip_title"`
	Provider  string                        `json:"provider_name"`
	Workflow  *string                       `json:"workflow_url"`
	Status    models.TripCancellationStatus `json:"status"`
	Until     *time.Time                    `json:"approval_until"`
	Decider   *string                       `json:"decided_by_name"`
	Cancelled int                           `json:"cancelled"`
	Succeeded int                           `json:"refunds_succeeded"`
	Pending   int                           `json:"refunds_pending"`
	Failed    int                           `json:"refunds_failed"`
	ByHand    int                           `json:"refunds_by_hand"`
	Refunded  models.Money                  `json:"refunded_total"`
}

func tripPath(s *harness.Stack) string { return "/api/v1/provider/trips/" + s.World.Trip.ID.String() }

func previewTrip(t *testing.T, s *harness.Stack) tripPreview {
	t.Helper()

	return decoded[tripPreview](t, http.StatusOK, s.As(models.RoleProviderStaff).Get(tripPath(s)+"/cancel-preview"))
}

func callOff(total models.Money) map[string]any {
	return map[string]any{"reason": "The bus broke down", "expected_refund_total": total}
}

// awaitTrip waits until the trip is CANCELLED and no gateway has a refund of it to decide.
func awaitTrip(t *testing.T, s *harness.Stack) tripCancellation {
	t.Helper()

	var now tripCancellation

	require.Eventually(t, func() bool {
		now = decoded[tripCancellation](t, http.StatusOK, s.As(models.RoleSupportAgent).Get(tripPath(s)+"/cancellation"))

		return now.Status == models.TripCancellationDone && now.Pending == 0
	}, patience, refundPoll, "the trip is cancelled")

	return now
}

func TestATripIsCalledOff(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer, finance, company := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleProviderAdmin)

	whole, parted, moved := customer.BookPaid(2), customer.BookPaid(3), customer.BookPaid(1)
	passenger := bookingAs(t, customer, parted.ID).Passengers[0].ID
	one := decoded[cancelledBooking](t, http.StatusOK, finance.Post("/api/v1/admin/bookings/"+parted.ID.String()+"/cancel", map[string]any{
		"refund": "AMOUNT", "amount": 10, "passenger_ids": []uuid.UUID{passenger},
	}))
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, *one.Refund).Status)

	open := customer.Book(1)
	begun, ahead, unpaid := s.NewCampaign("1000.00", -1), s.NewCampaign("1000.00", 3), s.NewCampaign("10.00", 1)

	for _, campaign := range []uuid.UUID{begun, ahead} {
		attempt := decoded[transaction](t, http.StatusCreated, company.Post(campaignIntentPath(campaign), byCard()))
		require.NoError(t, s.Pay(*attempt.CheckoutURL, "succeed"))
		require.Equal(t, models.TransactionPaid, awaitTransaction(t, s, attempt.ID).Status)
	}

	seen := previewTrip(t, s)
	require.Equal(t, []int{3, 5, 1, 3}, []int{seen.Bookings, seen.Seats, seen.OpenCheckouts, seen.Campaigns})
	require.Equal(t, whole.Amount.Add(moved.Amount).Add(whole.Amount).String(), seen.RefundTotal.String())
	require.Equal(t, "0.00", seen.ClawbackTotal.String(), "nothing was paid out")
	require.Equal(t, "2100.00", seen.CampaignsBack.String(), "as below")

	refused(t, company.Get(tripPath(s)+"/cancellation"), http.StatusNotFound, models.CodeNotFound)
	refused(t, company.Post(tripPath(s)+"/cancel", callOff(models.MustMoney("1.00"))), http.StatusConflict, models.CodeRefundAmountChanged)
	refused(t, s.As(models.RoleProviderStaff).Post(tripPath(s)+"/cancel", callOff(seen.RefundTotal)), http.StatusForbidden, models.CodeForbidden)

	off := decoded[tripCancellation](t, http.StatusAccepted, company.Post(tripPath(s)+"/cancel", callOff(seen.RefundTotal)))
	require.False(t, off.NeedsApproval)
	require.Equal(t, seen.RefundTotal.String(), off.RefundTotal.String())

	require.Equal(t, http.StatusNotFound, s.Anybody().Get("/api/v1/trips/"+s.World.Trip.ID.String()).Status, "it is not listed any more")
	require.Equal(t, http.StatusConflict, customer.Post("/api/v1/bookings", s.BookingRequest(1)).Status)
	require.Equal(t, off.ID, decoded[tripCancellation](t, http.StatusOK, company.Post(tripPath(s)+"/cancel", callOff(models.Money{}))).ID)

	done := awaitTrip(t, s)
	require.Equal(t, 3, done.Cancelled)
	require.Equal(t, 3, done.Succeeded)
	require.Equal(t, seen.RefundTotal.String(), done.Refunded.String())
	require.Zero(t, s.Count("SELECT seats_taken FROM trips WHERE id = $1 AND status = 'CANCELLED'", s.World.Trip.ID))
	require.Equal(t, models.BookingCancelled, bookingAs(t, customer, parted.ID).Status)
	require.Equal(t, 4, s.Count(`SELECT count(*) FROM notifications WHERE kind = 'BOOKING_CANCELLED' AND channel = 'EMAIL'
		AND data ->> 'trip_cancelled' = 'true'`), "each customer once, the unpaid one included")

	// What the campaigns have not run goes back: of eight days that began yesterday six, and all of the other.
	require.Equal(t, 3, s.Count("SELECT count(*) FROM ad_campaigns WHERE status = 'CANCELLED' AND id IN ($1, $2, $3)", begun, ahead, unpaid))

	for campaign, want := range map[uuid.UUID]string{begun: "900.00", ahead: "1200.00"} {
		require.Eventually(t, func() bool {
			return s.Count("SELECT count(*) FROM refunds WHERE ad_campaign_id = $1 AND status = 'SUCCEEDED' AND amount = $2", campaign, want) == 1
		}, patience, refundPoll, want)
	}

	// The customer whose checkout was open pays all the same: the money goes back.
	if s.Pay(*open.Payment.CheckoutURL, "succeed") == nil {
		require.Eventually(t, func() bool {
			return s.Count("SELECT count(*) FROM payment_transactions WHERE booking_id = $1 AND status = 'FAILED'", open.ID) == 1
		}, patience, refundPoll)
	}

	require.Equal(t, models.BookingCancelled, bookingAs(t, customer, open.ID).Status)
	refused(t, patched(t, company, tripPath(s), map[string]any{"title": "Another"}), http.StatusConflict, models.CodeInvalidState)
}

// Above the limit a second person decides; the limits of single refunds do not apply.
func TestCallingATripOffTakesTwo(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{
		"TRIP_CANCELLATION_APPROVAL_ABOVE": "100.00", "REFUND_APPROVAL_ABOVE": "1.00",
		"TEMPORAL_UI_URL": "http://127.0.0.1:8233/namespaces/default",
	}})
	customer, company, finance := s.As(models.RoleEndUser), s.As(models.RoleProviderAdmin), s.As(models.RoleFinanceAdmin)
	b := customer.BookPaid(1)
	seen := previewTrip(t, s)
	require.True(t, seen.NeedsApproval)

	off := decoded[tripCancellation](t, http.StatusAccepted, company.Post(tripPath(s)+"/cancel", callOff(seen.RefundTotal)))
	require.True(t, off.NeedsApproval)
	require.NotNil(t, off.Until)
	require.Equal(t, http.StatusNotFound, s.Anybody().Get("/api/v1/trips/"+s.World.Trip.ID.String()).Status)

	refused(t, company.Post(tripPath(s)+"/cancel/approve", map[string]any{}), http.StatusForbidden, models.CodeForbidden)

	const waiting = "/api/v1/admin/trip-cancellations?needs_approval=true"

	list := decoded[[]tripCancellation](t, http.StatusOK, finance.Get(waiting))
	require.Len(t, list, 1)
	require.Equal(t, []string{s.World.Trip.Title, s.World.Provider.Name}, []string{list[0].Title, list[0].Provider})
	require.Contains(t, *list[0].Workflow, "/workflows/trip-cancellation%2F"+s.World.Trip.ID.String())
	require.Nil(t, off.Workflow, "of which companies see nothing")

	rejected := decoded[tripCancellation](t, http.StatusOK, finance.Post(tripPath(s)+"/cancel/reject", map[string]any{"note": "It runs"}))
	require.Equal(t, models.TripCancellationRejected, rejected.Status)
	require.NotNil(t, rejected.Decider)
	require.Empty(t, decoded[[]tripCancellation](t, http.StatusOK, finance.Get(waiting)))
	require.Equal(t, http.StatusOK, s.Anybody().Get("/api/v1/trips/"+s.World.Trip.ID.String()).Status)
	require.Equal(t, models.BookingConfirmed, bookingAs(t, customer, b.ID).Status)

	admin := s.As(models.RoleAdmin)
	again := decoded[tripCancellation](t, http.StatusAccepted, admin.Post(tripPath(s)+"/cancel", callOff(seen.RefundTotal)))
	require.NotEqual(t, off.ID, again.ID)
	refused(t, admin.Post(tripPath(s)+"/cancel/approve", map[string]any{}), http.StatusForbidden, models.CodeForbidden)

	approved := decoded[tripCancellation](t, http.StatusOK, finance.Post(tripPath(s)+"/cancel/approve", map[string]any{}))
	require.False(t, approved.NeedsApproval)
	decoded[tripCancellation](t, http.StatusOK, finance.Post(tripPath(s)+"/cancel/approve", map[string]any{}))
	refused(t, finance.Post(tripPath(s)+"/cancel/reject", map[string]any{"note": "Too late"}), http.StatusConflict, models.CodeInvalidState)

	require.Equal(t, 1, awaitTrip(t, s).Succeeded)
	require.Equal(t, b.Amount.String(), bookingAs(t, customer, b.ID).Refunded.String())
}

func patched(t *testing.T, c *harness.Caller, path string, body any) harness.Answer {
	t.Helper()

	a, err := c.Do(http.MethodPatch, path, body, nil)
	require.NoError(t, err)

	return a
}
