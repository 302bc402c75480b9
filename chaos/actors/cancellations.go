package actors

import (
	"context"
	"net/http"
	"sync"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/models"
)

// askToCancel has the customer ask for one passenger to be cancelled, and people decide at once: finance staff and an admin approve, the
// customer takes it back, or an admin rejects it. One of them wins.
func (s *story) askToCancel(ctx context.Context, passenger, api int) {
	path := "/api/v1/bookings/" + s.booking.ID.String() + "/cancellation-requests"

	a, ok := s.send(ctx, request{
		method: http.MethodPost, path: path, key: newKey(), api: api,
		body: map[string]any{"passenger_ids": []uuid.UUID{models.PassengerID(s.booking.ID, passenger)}, "reason": "One of us cannot come"},
	}, models.CodeInvalidState)
	if !ok || a.Code() != "" {
		return
	}

	var r gen.CancellationRequest

	s.note(a.Data(&r))
	s.Journal.Count("cancellations asked for", 1)

	decide := "/api/v1/admin/cancellation-requests/" + r.ID.String()
	approve := func() request { // each person has a key of their own
		return request{method: http.MethodPost, path: decide + "/approve", body: map[string]any{"note": "As agreed."}, key: newKey(), api: api}
	}
	reject := request{method: http.MethodPost, path: decide + "/reject", body: map[string]any{"note": "Too late."}}
	withdraw := request{method: http.MethodPost, path: path + "/" + r.ID.String() + "/withdraw"}

	var all sync.WaitGroup

	all.Go(func() { s.decide(ctx, s.finance, approve(), "cancellations approved") })

	switch r.ID[15] % 4 {
	case 0:
		all.Go(func() { s.decide(ctx, s.admin, reject, "cancellations rejected") })
	case 1:
		all.Go(func() { s.decide(ctx, s.customer, withdraw, "cancellations withdrawn") })
	default:
		all.Go(func() { s.decide(ctx, s.admin, approve(), "cancellations approved") })
	}

	all.Wait()

	// Nothing is approved while a refund of the booking waits for its own approval: what is open still is rejected.
	s.decide(ctx, s.admin, reject, "cancellations rejected")
}

// decide sends a decision until it is answered. Another decision, and money that has gone back meanwhile, may have come first.
func (s *story) decide(ctx context.Context, by caller, r request, what string) {
	a, ok := by.named(s.caller.who+"'s").retryUntilDecided(ctx, r, models.CodeInvalidState, models.CodeBookingNotRefundable,
		models.CodeRefundExceedsRemaining)
	if ok && a.Code() == "" {
		s.Journal.Count(what, 1)
	}
}
