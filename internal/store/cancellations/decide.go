package cancellations

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/outbox"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// Decision is what a person decides about a request.
type Decision struct {
	RequestID uuid.UUID
	To        models.CancellationRequestStatus // APPROVED, REJECTED or WITHDRAWN
	Note      string                           // the customer is sent it
	AtMost    *models.Money                    // what its person may order back within an hour without a code of late; nil: there is no bound
	Expected  *models.Money                    // what an approval has to order; nil: whatever it comes to
	Claim     uuid.UUID                        // of the Idempotency-Key; uuid.Nil without one
}

// Decide decides a request once: an approval cancels the passengers and orders what was quoted (rules: cancellations.decision), a
// rejection and a withdrawal change nothing else. After the departure of its trip the request is EXPIRED instead. The same decision of
// the same person again changes nothing. Errors: NOT_FOUND, also of a withdrawal by another account; FORBIDDEN for the approval by who
// has booked or paid; INVALID_STATE when it was decided otherwise, or has expired; those of refunds.Cancel.
func (s *Store) Decide(ctx context.Context, by db.Actor, d Decision, now time.Time) (models.CancellationRequest, error) {
	var (
		out     models.CancellationRequest
		expired error // of a decision that came after the departure, which is kept
	)

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		expired = nil

		if err := db.BindKey(ctx, tx, d.Claim, d.RequestID); err != nil {
			return err
		}

		r, departure, err := lockRequest(ctx, tx, d.RequestID)
		if err != nil {
			return err
		}

		out = r
		if d.To == models.CancellationWithdrawn && r.RequestedBy != by.UserID {
			return models.NotFound()
		}

		again, err := r.MayDecide(d.To, &by.UserID)
		if err != nil || again {
			return err
		}

		if !now.Before(departure) {
			expired = models.NewError(models.CodeInvalidState, "cancellation.decided", "status", models.CancellationExpired)

			return s.end(ctx, tx, db.Actor{RequestID: by.RequestID}, &out, models.CancellationExpired, "", nil, now)
		}

		switch d.To {
		case models.CancellationApproved:
			return s.approve(ctx, tx, by, &out, d, now)
		case models.CancellationRejected:
			return s.reject(ctx, tx, by, &out, d.Note, now)
		default:
			return s.end(ctx, tx, by, &out, d.To, d.Note, nil, now)
		}
	})
	if err != nil {
		return models.CancellationRequest{}, err
	}

	return out, expired
}

// lockRequest locks the payment and the booking of a request, and the request, which is read with the departure of now. Error: NOT_FOUND.
func lockRequest(ctx context.Context, tx bun.Tx, id uuid.UUID) (models.CancellationRequest, time.Time, error) {
	r, err := requestByID(ctx, tx, id)
	if err != nil {
		return r, time.Time{}, err
	}

	_, departure, err := refunds.LockPaidBooking(ctx, tx, r.BookingID)
	if err != nil {
		return r, departure, err
	}

	// Only now is its state certain: who decides or cancels has the booking's lock.
	r, err = requestByID(ctx, tx, id)

	return r, departure, err
}

// approve cancels the passengers of a request that is locked, and orders what was quoted.
func (s *Store) approve(
	ctx context.Context, tx bun.Tx, by db.Actor, r *models.CancellationRequest, d Decision, now time.Time,
) error {
	quote, err := r.Quote()
	if err != nil {
		return fmt.Errorf("the schedule of cancellation request %s %w", r.ID, err)
	}

	order := models.RefundRequest{
		ID: r.OrderID(), BookingID: r.BookingID, Type: models.RefundPolicy, Role: by.Role,
		RequestID: by.RequestID, Address: by.Address, UserAgent: by.UserAgent, Reason: r.Reason, AtMost: d.AtMost, Expected: d.Expected,
	}
	if by.UserID != uuid.Nil {
		order.RequestedBy = &by.UserID
	}

	done, err := s.refunds.CancelIn(ctx, tx, order, r.Order(&quote), now)
	if err != nil {
		return err
	}

	if done.Refund != nil {
		r.RefundID = &done.Refund.ID
	}

	return s.end(ctx, tx, by, r, models.CancellationApproved, d.Note, &done.Cancellation.ID, now)
}

// reject tells the customer why nothing is cancelled.
func (s *Store) reject(ctx context.Context, tx bun.Tx, by db.Actor, r *models.CancellationRequest, note string, now time.Time) error {
	if err := s.end(ctx, tx, by, r, models.CancellationRejected, note, nil, now); err != nil {
		return err
	}

	b, t, trip, err := refunds.MessageSubject(ctx, tx, r.BookingID)
	if err != nil {
		return err
	}

	facts := outbox.BookingData(&b, &trip)
	facts["note"] = note

	_, err = outbox.InsertMessages(ctx, tx, outbox.NewMessages(models.NotifyCancellationRejected, t.ID, r.ID.String(), b.Locale,
		b.ContactEmail, b.ContactPhone, facts))

	return err
}

// end is the guarded UPDATE out of REQUESTED, with its entry in the audit log. Without a person as actor the service decides.
func (s *Store) end(
	ctx context.Context, tx bun.Tx, by db.Actor, r *models.CancellationRequest, to models.CancellationRequestStatus, note string,
	cancellation *uuid.UUID, now time.Time,
) error {
	at := now.Truncate(time.Microsecond)
	r.Status, r.Note, r.DecidedAt, r.CancellationID = to, note, &at, cancellation
	r.DecidedBy = db.NullableID(by.UserID)

	res, err := tx.NewUpdate().Model(r).Column("status", "note", "decided_by", "decided_at", "cancellation_id").WherePK().
		Where(db.Still, bun.Ident("status"), models.CancellationRequested).Exec(ctx)
	if err != nil {
		return fmt.Errorf("decide cancellation request: %w", err)
	}

	if err := db.AffectedOne(res, "cancellation request"); err != nil {
		return err
	}

	return db.Audit(ctx, tx, by, models.AuditCancellationDecided, models.EntityBooking, &r.BookingID, map[string]any{
		"request_id": r.ID, "status": to, "cancellation_id": cancellation, "refund_id": r.RefundID,
	})
}

// Expire ends a request whose trip has departed at now, in the service's own name, and reports how it stands and until when it may be
// decided. Running it again changes nothing. Error: NOT_FOUND.
func (s *Store) Expire(ctx context.Context, id uuid.UUID, now time.Time) (models.OpenCancellation, error) {
	var out models.OpenCancellation

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		r, departure, err := lockRequest(ctx, tx, id)
		if err != nil {
			return err
		}

		if r.LookedAt == nil {
			_, err := tx.NewUpdate().Model(&r).Set("looked_at = ?", now).WherePK().Exec(ctx)
			if err != nil {
				return fmt.Errorf("note that the workflow runs: %w", err)
			}
		}

		if r.Status == models.CancellationRequested && !now.Before(departure) {
			if err := s.end(ctx, tx, db.Actor{}, &r, models.CancellationExpired, "", nil, now); err != nil {
				return err
			}
		}

		if r.Status != models.CancellationRequested && r.ClosedAt == nil {
			if _, err := tx.NewUpdate().Model(&r).Set("closed_at = ?", now).WherePK().Exec(ctx); err != nil {
				return fmt.Errorf("note that the workflow ends: %w", err)
			}
		}

		out = models.OpenCancellation{
			Status: r.Status, BookingID: r.BookingID, Until: departure, RemindAt: r.RequestedAt.Add(s.policies.CancelReminder),
			Seats: len(r.Positions), Amount: r.RefundAmount,
		}

		return nil
	})

	return out, err
}
