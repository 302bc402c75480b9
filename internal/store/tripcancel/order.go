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
	case t.Status == models.TripCancelling, t.Status == models.TripCancelled:
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

	person, err := acts(ctx, tx, by.UserID, now)
	if err != nil {
		return out, err
	}

	if o.AtMost != nil && models.NeedsCode(*o.AtMost, sums.RefundTotal, models.Currency, person.hour) {
		return out, models.StepUpRequired()
	}

	out.TripCancellation = models.TripCancellation{
		ID: models.NewID(), TripID: t.ID, Status: models.TripCancellationRunning, Reason: o.Reason, TripCancellationSums: sums,
		RequestedBy: by.UserID, RequestedAt: now.Truncate(time.Microsecond), ProviderID: t.ProviderID,
	}
	c := &out.TripCancellation

	alone, err := orderedAlone(ctx, tx, t.ProviderID, now)
	if err != nil {
		return out, err
	}

	if person.alone.Cmp(alone) > 0 {
		alone = person.alone
	}

	c.Approve(s.policies.TripCancellationAbove, alone, s.policies.Approval.Wait, t.DepartureAt)

	if _, err := tx.NewInsert().Model(c).Exec(ctx); err != nil {
		return out, fmt.Errorf("insert trip cancellation: %w", err)
	}

	if err := moveTrip(ctx, tx, t.ID, models.TripPublished, models.TripCancelling); err != nil {
		return out, err
	}

	return out, note(ctx, tx, by, models.AuditTripCancellationAsked, c)
}

// orderedAlone is what the trips of a company come to that were called off without an approval within 24 hours: what needs one cannot be
// had trip by trip. Inside a transaction the company's next trip waits.
func orderedAlone(ctx context.Context, in bun.IDB, provider uuid.UUID, now time.Time) (alone models.Money, err error) {
	if tx, ok := in.(bun.Tx); ok {
		if err := db.LockName(ctx, tx, "trip-cancellations:"+provider.String()); err != nil {
			return alone, err
		}
	}

	err = in.NewSelect().Model((*models.TripCancellation)(nil)).ColumnExpr("coalesce(sum(tc.refund_total), 0)").
		Join("JOIN trips AS t ON t.id = tc.trip_id").Where("t.provider_id = ?", provider).
		Where("tc.approval_until IS NULL").Where("tc.requested_at > ?", now.Add(-24*time.Hour)).Scan(ctx, &alone)
	if err != nil {
		return alone, fmt.Errorf("sum trips without approval: %w", err)
	}

	return alone, nil
}

// personActs is what a person has called off, or approved, in SAR.
type personActs struct {
	hour  models.Money // within an hour
	alone models.Money // within 24 hours, without an approval
}

// acts locks the acts of a person and sums them up.
func acts(ctx context.Context, tx bun.Tx, person uuid.UUID, now time.Time) (sum personActs, err error) {
	if err := db.LockActs(ctx, tx, person); err != nil {
		return sum, err
	}

	err = tx.NewRaw(`SELECT coalesce(sum(refund_total) FILTER (
				WHERE requested_by = ?0 AND requested_at > ?1 OR decided_by = ?0 AND decided_at > ?1 AND status IN ('CANCELLING', 'CANCELLED')), 0),
			coalesce(sum(refund_total) FILTER (WHERE requested_by = ?0 AND approval_until IS NULL), 0)
		FROM trip_cancellations WHERE (requested_by = ?0 OR decided_by = ?0) AND requested_at > ?2`,
		person, now.Add(-time.Hour), now.Add(-24*time.Hour)).Scan(ctx, &sum.hour, &sum.alone)
	if err != nil {
		return sum, fmt.Errorf("sum what a person called off: %w", err)
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

		if out, err = lockNewest(ctx, tx, d.TripID); err != nil {
			return err
		}

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

// lockNewest locks a trip and its newest cancellation, in the order of Order. Error: NOT_FOUND.
func lockNewest(ctx context.Context, tx bun.Tx, trip uuid.UUID) (models.TripCancellation, error) {
	var provider uuid.UUID

	err := tx.NewSelect().Model((*models.Trip)(nil)).Column("provider_id").Where("id = ?", trip).For("NO KEY UPDATE").Scan(ctx, &provider)
	if err != nil {
		return models.TripCancellation{}, db.NotFound(err)
	}

	c, err := ofTrip(ctx, tx, trip)
	if err != nil {
		return c, err
	}

	c, err = byID(ctx, tx, c.ID, "UPDATE")
	c.ProviderID = provider

	return c, err
}

// lockOne is lockNewest of one that may not be the newest by now.
func lockOne(ctx context.Context, tx bun.Tx, seen *models.TripCancellation) (models.TripCancellation, error) {
	if _, err := lockNewest(ctx, tx, seen.TripID); err != nil {
		return models.TripCancellation{}, err
	}

	return byID(ctx, tx, seen.ID, "UPDATE")
}

func approve(ctx context.Context, tx bun.Tx, by db.Actor, c *models.TripCancellation, d Decision, now time.Time) error {
	if err := db.SecondPerson(ctx, tx, &c.RequestedBy, by.UserID, nil); err != nil {
		return err
	}

	person, err := acts(ctx, tx, by.UserID, now)
	if err != nil {
		return err
	}

	if d.AtMost != nil && models.NeedsCode(*d.AtMost, c.RefundTotal, models.Currency, person.hour) {
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
		c, err := byID(ctx, tx, id, "")
		if err != nil {
			return err
		}

		if c.ApprovalPending {
			if c, err = lockOne(ctx, tx, &c); err != nil {
				return err
			}
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
