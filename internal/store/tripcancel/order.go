package tripcancel

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// Order asks for a trip to be called off.
type Order struct {
	TripID   uuid.UUID
	Reason   string
	Expected models.Money  // refund_total as it was previewed
	AtMost   *models.Money // what its person may order back within an hour without a code of late; nil: there is no bound
}

// Ordered is what became of it.
type Ordered struct {
	models.TripCancellation

	Repeated bool // the trip was being called off, or is
}

// Order calls a trip off (rules: trips.cancel): it is not listed any more from now on, and its workflow does the rest. Above the limit it
// waits for a second person. One that is being called off, or is, stays as it is. Errors: NOT_FOUND; FORBIDDEN; INVALID_STATE when it is
// not PUBLISHED, or has departed; REFUND_AMOUNT_CHANGED; STEP_UP_REQUIRED.
func (s *Store) Order(ctx context.Context, by db.Actor, o Order, now time.Time) (Ordered, error) {
	var out Ordered

	_, err := s.catalogue.ChangeTrip(ctx, by, o.TripID, nil, func(ctx context.Context, tx bun.Tx, t *models.Trip) (err error) {
		out, err = s.order(ctx, tx, by, o, t, now)

		return err
	})
	if err != nil {
		return Ordered{}, err
	}

	return out, nil
}

func (s *Store) order(ctx context.Context, tx bun.Tx, by db.Actor, o Order, t *models.Trip, now time.Time) (Ordered, error) {
	var out Ordered

	switch {
	case t.Status.IsCalledOff():
		var err error
		out.Repeated = true
		out.TripCancellation, err = ofTrip(ctx, tx, t.ID)

		return out, err
	case t.Status != models.TripPublished:
		return out, models.NewError(models.CodeInvalidState, "trip_cancellation.not_published", "status", t.Status)
	case !t.DepartureAt.After(now):
		return out, models.NewError(models.CodeInvalidState, "trip_cancellation.departed")
	}

	sums, err := sumsOf(ctx, tx, t.ID, now)
	if err != nil {
		return out, err
	}

	if !sums.RefundTotal.Equal(o.Expected) {
		return out, models.TripRefundsChanged(sums.RefundTotal)
	}

	before, err := lockedBefore(ctx, tx, by.UserID, t.ProviderID, now)
	if err != nil {
		return out, err
	}

	if o.AtMost != nil && models.NeedsCode(*o.AtMost, sums.RefundTotal, models.Currency, before.hour) {
		return out, models.StepUpRequired()
	}

	out.TripCancellation = models.TripCancellation{
		ID: models.NewID(), TripID: t.ID, Status: models.TripCancellationRunning, Reason: o.Reason, TripCancellationSums: sums,
		RequestedBy: by.UserID, RequestedAt: now.Truncate(time.Microsecond), ProviderID: t.ProviderID,
	}
	c := &out.TripCancellation
	c.Approve(s.policies.TripCancellationAbove, before.alone, s.policies.Approval.Wait, t.DepartureAt)

	if _, err := tx.NewInsert().Model(c).Exec(ctx); err != nil {
		return out, fmt.Errorf("insert trip cancellation: %w", err)
	}

	if err := moveTrip(ctx, tx, t.ID, models.TripPublished, models.TripCancelling); err != nil {
		return out, err
	}

	return out, note(ctx, tx, by, models.AuditTripCancellationAsked, c)
}

// calledOff is what a person has called off before, or approved, in SAR.
type calledOff struct {
	hour  models.Money // by the person within an hour
	alone models.Money // by the person, or of the company, within 24 hours without an approval: the greater of the two
}

// lockedBefore is before with the acts of the person and the trips of the company locked, so that nothing is added meanwhile.
func lockedBefore(ctx context.Context, tx bun.Tx, person, provider uuid.UUID, now time.Time) (calledOff, error) {
	if err := db.LockActs(ctx, tx, person); err != nil {
		return calledOff{}, err
	}

	if err := db.LockName(ctx, tx, "trip-cancellations:"+provider.String()); err != nil {
		return calledOff{}, err
	}

	return before(ctx, tx, person, provider, now)
}

// before sums up what counts towards the limits: what needs a second person cannot be had trip by trip.
func before(ctx context.Context, in bun.IDB, person, provider uuid.UUID, now time.Time) (sum calledOff, err error) {
	err = in.NewRaw(`SELECT coalesce(sum(tc.refund_total) FILTER (WHERE tc.requested_by = ?0 AND tc.requested_at > ?2
				OR tc.decided_by = ?0 AND tc.decided_at > ?2), 0),
			greatest(coalesce(sum(tc.refund_total) FILTER (WHERE tc.approval_until IS NULL AND tc.requested_by = ?0 AND tc.requested_at > ?3), 0),
				coalesce(sum(tc.refund_total) FILTER (WHERE tc.approval_until IS NULL AND t.provider_id = ?1 AND tc.requested_at > ?3), 0))
		FROM trip_cancellations AS tc JOIN trips AS t ON t.id = tc.trip_id
		WHERE tc.status IN (?4, ?5) AND (tc.requested_at > ?3 OR tc.decided_at > ?2)`,
		person, provider, now.Add(-time.Hour), now.Add(-24*time.Hour), models.TripCancellationRunning, models.TripCancellationDone).
		Scan(ctx, &sum.hour, &sum.alone)
	if err != nil {
		return sum, fmt.Errorf("sum what was called off: %w", err)
	}

	return sum, nil
}

// Decision is what a second person decides about the cancellation of a trip.
type Decision struct {
	TripID  uuid.UUID
	Approve bool
	Note    string
	AtMost  *models.Money // what its person may approve within an hour without a code of late; nil: there is no bound
}

// Decide keeps what a person decided about the cancellation of a trip that needs an approval, once. With a rejection the trip is
// PUBLISHED again. The requester may reject it, which withdraws it, but not approve it. The same decision by the same person again changes
// nothing. Errors: NOT_FOUND; FORBIDDEN to who is no second person beside the requester; INVALID_STATE when it needs no approval, was
// decided otherwise, or its time is over; STEP_UP_REQUIRED.
func (s *Store) Decide(ctx context.Context, by db.Actor, d Decision, now time.Time) (models.TripCancellation, error) {
	var (
		out  models.TripCancellation
		over error // of a decision that came too late, which is kept
	)

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		over = nil

		provider, err := lockTrip(ctx, tx, d.TripID)
		if err != nil {
			return err
		}

		if out, err = ofTrip(ctx, tx, d.TripID); err != nil {
			return err
		}

		out.ProviderID = provider

		again, err := out.MayDecide(d.Approve, by.UserID)
		if err != nil || again {
			return err
		}

		if out.ApprovalTimeIsOver(now) {
			over = models.NewError(models.CodeInvalidState, "trip_cancellation.decided", "status", models.TripCancellationExpired)

			return end(ctx, tx, db.Actor{RequestID: by.RequestID}, &out, models.TripCancellationExpired, "", now)
		}

		if !d.Approve {
			return end(ctx, tx, by, &out, models.TripCancellationRejected, d.Note, now)
		}

		return approve(ctx, tx, by, &out, d, now)
	})
	if err != nil {
		return models.TripCancellation{}, err
	}

	return out, over
}

// lockTrip locks a trip, by which its cancellations are asked for, decided and ended one after the other. Error: NOT_FOUND.
func lockTrip(ctx context.Context, tx bun.Tx, trip uuid.UUID) (provider uuid.UUID, err error) {
	err = tx.NewSelect().Model((*models.Trip)(nil)).Column("provider_id").Where("id = ?", trip).For("NO KEY UPDATE").Scan(ctx, &provider)

	return provider, db.NotFound(err)
}

func approve(ctx context.Context, tx bun.Tx, by db.Actor, c *models.TripCancellation, d Decision, now time.Time) error {
	if err := db.SecondPerson(ctx, tx, &c.RequestedBy, by.UserID, nil); err != nil {
		return err
	}

	sum, err := lockedBefore(ctx, tx, by.UserID, c.ProviderID, now)
	if err != nil {
		return err
	}

	if d.AtMost != nil && models.NeedsCode(*d.AtMost, c.RefundTotal, models.Currency, sum.hour) {
		return models.StepUpRequired()
	}

	c.ApprovalPending = false
	if err := decide(ctx, tx, by, c, d.Note, now); err != nil {
		return err
	}

	return note(ctx, tx, by, models.AuditTripCancellationApproved, c)
}

// end leaves the trip as it was: PUBLISHED. Without a person as actor the service decides.
func end(
	ctx context.Context, tx bun.Tx, by db.Actor, c *models.TripCancellation, to models.TripCancellationStatus, text string, now time.Time,
) error {
	c.Status, c.ApprovalPending = to, false
	if err := decide(ctx, tx, by, c, text, now); err != nil {
		return err
	}

	if err := moveTrip(ctx, tx, c.TripID, models.TripCancelling, models.TripPublished); err != nil {
		return err
	}

	action := models.AuditTripCancellationRejected
	if to == models.TripCancellationExpired {
		action = models.AuditTripCancellationExpired
	}

	return note(ctx, tx, by, action, c)
}

// decide is the guarded UPDATE of a decision.
func decide(ctx context.Context, tx bun.Tx, by db.Actor, c *models.TripCancellation, text string, now time.Time) error {
	at := now.Truncate(time.Microsecond)
	c.Note, c.DecidedAt, c.DecidedBy = text, &at, db.NullableID(by.UserID)

	res, err := tx.NewUpdate().Model(c).Column("status", "approval_pending", "note", "decided_by", "decided_at").WherePK().
		Where(db.Still, bun.Ident("approval_pending"), true).Exec(ctx)
	if err != nil {
		return fmt.Errorf("decide trip cancellation: %w", err)
	}

	return db.AffectedOne(res, "trip cancellation")
}

// Look reports how the cancellation of a trip stands, and ends one whose approval has not come by now. Error: NOT_FOUND.
func (s *Store) Look(ctx context.Context, id uuid.UUID, now time.Time) (models.OpenTripCancellation, error) {
	var out models.OpenTripCancellation

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := lockByID(ctx, tx, id)
		if err != nil {
			return err
		}

		if c.ApprovalTimeIsOver(now) {
			if err := end(ctx, tx, db.Actor{}, &c, models.TripCancellationExpired, "", now); err != nil {
				return err
			}
		}

		if _, err := tx.NewUpdate().Model(&c).Set("looked_at = ?", now).WherePK().Exec(ctx); err != nil {
			return fmt.Errorf("note that the workflow runs: %w", err)
		}

		out = models.OpenTripCancellation{Status: c.Status, ApprovalPending: c.ApprovalPending, Sums: c.TripCancellationSums}
		if c.ApprovalUntil != nil {
			out.Until = *c.ApprovalUntil
		}

		return nil
	})

	return out, err
}

// quiet is after how long without a look of its workflow one that is under way is looked at again.
const quiet = 15 * time.Minute

// LeftBehind are cancellations of trips whose workflow was not started within grace, does not know so long after it that they were decided,
// or has not been heard of. They come in no order, so that some which cannot be handed over never keep the others back for good.
func (s *Store) LeftBehind(ctx context.Context, grace time.Duration, limit int, now time.Time) ([]models.TripCancellationOrder, error) {
	var rows []models.TripCancellationOrder

	err := s.db.NewSelect().Model((*models.TripCancellation)(nil)).ColumnExpr("tc.id, tc.trip_id, t.provider_id").
		Join("JOIN trips AS t ON t.id = tc.trip_id").Where("tc.status = ?", models.TripCancellationRunning).
		Where(`(tc.looked_at IS NULL AND tc.requested_at <= ?0 OR tc.decided_at > tc.looked_at AND tc.decided_at <= ?0
			OR tc.approval_pending AND tc.approval_until <= ?0 OR NOT tc.approval_pending AND tc.looked_at <= ?1)`,
			now.Add(-grace), now.Add(-quiet)).
		OrderExpr("random()").Limit(int64(limit)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read trip cancellations that were left behind: %w", err)
	}

	return rows, nil
}

// Running are the cancellations of trips that have not ended: each has a workflow.
func (s *Store) Running(ctx context.Context) ([]models.TripCancellationOrder, error) {
	var rows []models.TripCancellationOrder

	err := s.db.NewSelect().Model((*models.TripCancellation)(nil)).ColumnExpr("tc.id, tc.trip_id, t.provider_id").
		Join("JOIN trips AS t ON t.id = tc.trip_id").Where("tc.status = ?", models.TripCancellationRunning).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read cancellations of trips: %w", err)
	}

	return rows, nil
}
