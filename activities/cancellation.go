package activities

import (
	"context"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// LookAtCancellation reads how a cancellation request stands, and ends it once its trip has departed. at is the time of its workflow,
// which is Temporal's: when the timer of the departure has fired the trip has departed, also where this process' clock is behind.
func (p *Payments) LookAtCancellation(ctx context.Context, id uuid.UUID, at time.Time) (models.OpenCancellation, error) {
	now := p.Now()
	if at.After(now) {
		now = at
	}

	state, err := p.Store.Cancellations.Expire(ctx, id, now)

	return state, asActivityError(err)
}

// ended has the workflow of a request look at it that ended with its booking; uuid.Nil: there is none.
func (p *Payments) ended(request uuid.UUID) {
	if request != uuid.Nil && p.Withdrawn != nil {
		p.Withdrawn(request)
	}
}

// RemindOfCancellation queues a mail to each FINANCE_ADMIN about a request that is undecided; once per request.
func (p *Payments) RemindOfCancellation(ctx context.Context, id uuid.UUID) error {
	return asActivityError(p.Store.Cancellations.Remind(ctx, id))
}
