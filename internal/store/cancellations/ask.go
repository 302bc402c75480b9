package cancellations

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// Ask is a customer's request to cancel passengers of a paid booking.
type Ask struct {
	ID         uuid.UUID // of the request
	BookingID  uuid.UUID
	Passengers []uuid.UUID // none: all that are left
	Reason     string      // may name a person
	Claim      uuid.UUID   // of the Idempotency-Key; uuid.Nil without one
	BodyHash   []byte
}

// Request keeps a request of the owner with the quote of now, before the trip departs (rules: cancellations.request). Where the policies
// say so, what the quote gives is approved at once, in the service's own name. The same id again returns what was asked for. Errors:
// NOT_FOUND (no such booking, or another account's); VALIDATION_ERROR on passenger_ids; INVALID_STATE when the booking is not CONFIRMED,
// the trip has departed, a passenger is cancelled, or another request or cancellation is open; IDEMPOTENCY_KEY_REUSED.
func (s *Store) Request(ctx context.Context, by db.Actor, a Ask, now time.Time) (models.CancellationRequest, error) {
	var out models.CancellationRequest

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if err := db.BindKey(ctx, tx, a.Claim, a.ID); err != nil {
			return err
		}

		known, err := knownRequest(ctx, tx, by, &a)
		if err != nil || known != nil {
			if known != nil {
				out = *known
			}

			return err
		}

		out, err = s.keepRequest(ctx, tx, by, &a, now)
		if err != nil {
			return err
		}

		if !s.approvesAlone(&out) {
			return nil
		}

		return s.approveAlone(ctx, tx, by, &out, now)
	})
	if db.Violates(err, "requests_open") {
		err = models.NewError(models.CodeInvalidState, "cancellation.open")
	}

	return out, err
}

// approveAlone approves a request in the service's name. What cannot be approved now, because a refund of the booking waits for its own
// approval, is left to staff: the customer can do nothing about it.
func (s *Store) approveAlone(ctx context.Context, tx bun.Tx, by db.Actor, r *models.CancellationRequest, now time.Time) error {
	approved := *r

	err := tx.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error { // a savepoint
		return s.approve(ctx, tx, db.Actor{RequestID: by.RequestID}, &approved, Decision{}, now)
	})

	switch {
	case models.CodeOf(err) == models.CodeInvalidState:
		return nil
	case err != nil:
		return err
	}

	*r = approved

	return nil
}

// knownRequest is what the same request has asked for before; nil when it has not. Error: IDEMPOTENCY_KEY_REUSED.
func knownRequest(ctx context.Context, tx bun.Tx, by db.Actor, a *Ask) (*models.CancellationRequest, error) {
	if err := db.LockName(ctx, tx, "cancellation-request:"+a.ID.String()); err != nil {
		return nil, err
	}

	known, err := requestByID(ctx, tx, a.ID)

	switch {
	case models.CodeOf(err) == models.CodeNotFound:
		return nil, nil //nolint:nilnil // it was not asked for yet
	case err != nil:
		return nil, err
	case known.BookingID != a.BookingID, known.RequestedBy != by.UserID,
		known.BodyHash != nil && a.BodyHash != nil && !bytes.Equal(known.BodyHash, a.BodyHash):
		return nil, models.NewError(models.CodeIdempotencyKeyReused, "idempotency.other_request")
	default:
		return &known, nil
	}
}

// keepRequest quotes the cancellation under the locks of payment and booking, and writes the request.
func (s *Store) keepRequest(ctx context.Context, tx bun.Tx, by db.Actor, a *Ask, now time.Time) (models.CancellationRequest, error) {
	b, departure, err := refunds.LockPaidBooking(ctx, tx, a.BookingID)

	switch {
	case err != nil:
		return models.CancellationRequest{}, err
	case b.UserID != by.UserID:
		return models.CancellationRequest{}, models.NotFound()
	}

	if err := b.Cancellable(); err != nil {
		return models.CancellationRequest{}, err
	}

	if !now.Before(departure) {
		return models.CancellationRequest{}, models.NewError(models.CodeInvalidState, "cancellation.departed")
	}

	quote, positions, err := s.refunds.QuoteIn(ctx, tx, &b, a.Passengers, now)
	if err != nil {
		return models.CancellationRequest{}, err
	}

	r := models.CancellationRequest{
		ID: a.ID, BookingID: b.ID, Status: models.CancellationRequested, Reason: a.Reason, RequestedBy: by.UserID,
		RequestedAt: now.Truncate(time.Microsecond), BodyHash: a.BodyHash,
	}
	r.Keep(quote, positions)

	if _, err := tx.NewInsert().Model(&r).Exec(ctx); err != nil {
		return r, fmt.Errorf("insert cancellation request: %w", err)
	}

	return r, db.Audit(ctx, tx, by, models.AuditCancellationRequested, models.EntityBooking, &b.ID, map[string]any{
		"request_id": r.ID, "positions": r.Positions, "percent": r.Percent, "refund_amount": r.RefundAmount,
	})
}

// approvesAlone says whether the policies approve the request without a person.
func (s *Store) approvesAlone(r *models.CancellationRequest) bool {
	above := s.policies.Approval.Above

	return s.policies.CancelAlone && (!above.IsPositive() || r.RefundAmount.Cmp(above) <= 0)
}

// requestByID reads a request with the refund that was ordered with its approval. Error: NOT_FOUND.
func requestByID(ctx context.Context, in bun.IDB, id uuid.UUID) (models.CancellationRequest, error) {
	var r models.CancellationRequest

	err := withSubjects(in.NewSelect().Model(&r)).Where("cr.id = ?", id).Scan(ctx)

	return r, db.NotFound(err)
}

// withSubjects selects requests with what people read beside them. A customer who withdraws a request decides nothing.
func withSubjects(q *bun.SelectQuery) *bun.SelectQuery {
	return q.ColumnExpr("?TableColumns").ColumnExpr("bk.booking_number, bk.contact_name, p.name AS provider_name, t.title AS trip_title").
		ColumnExpr("t.departure_at, cn.refund_id, du.name AS decider_name").
		Join("JOIN bookings AS bk ON bk.id = cr.booking_id").Join("JOIN trips AS t ON t.id = bk.trip_id").
		Join("JOIN providers AS p ON p.id = bk.provider_id").Join("LEFT JOIN cancellations AS cn ON cn.id = cr.cancellation_id").
		Join("LEFT JOIN users AS du ON du.id = cr.decided_by AND cr.decided_by <> cr.requested_by")
}
