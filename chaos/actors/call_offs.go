package actors

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/chaos/schedule"
	"rihla/models"
	"rihla/workflows"
)

func tripPath(trip uuid.UUID) string { return "/api/v1/provider/trips/" + trip.String() }

// isCalledOff reports whether the trip is called off in this schedule: from any moment on it may not be on sale.
func (p *Run) isCalledOff(trip int) bool {
	return slices.ContainsFunc(p.schedule.CallOffs, func(c schedule.CallOff) bool { return c.Trip == trip })
}

// callOff has a trip called off, decided about where that needs a second person, and paused where the schedule says so.
func (p *Run) callOff(ctx context.Context, c schedule.CallOff) {
	trip := p.Trips[c.Trip]
	company, admin := p.company.named("dispatcher"), p.admin.named("duty admin")

	var all sync.WaitGroup

	if c.By != schedule.AdminCallsOff {
		all.Go(func() { p.orderCallOff(ctx, company, trip, c.API) })
	}

	if c.By != schedule.CompanyCallsOff {
		all.Go(func() { p.orderCallOff(ctx, admin, trip, c.API+1) })
	}

	all.Wait()
	all.Go(func() { p.pauseCallOff(ctx, trip, c.Pause) })
	p.decideCallOff(ctx, trip, c.API)
	all.Wait()
}

// orderCallOff previews the trip's cancellation and orders what it was shown, again and again until nothing has changed in between.
func (p *Run) orderCallOff(ctx context.Context, by caller, trip uuid.UUID, api int) {
	for {
		var preview gen.TripCancellationPreview

		a, ok := by.retryUntilDecided(ctx, request{method: http.MethodGet, path: tripPath(trip) + "/cancel-preview", api: api})
		if !ok {
			return
		}

		p.note(a.Data(&preview))

		a, ok = by.twice(ctx, request{
			method: http.MethodPost, path: tripPath(trip) + "/cancel", api: api,
			body: map[string]any{"reason": "The bus broke down", "expected_refund_total": preview.RefundTotal},
		}, models.CodeRefundAmountChanged)
		if !ok {
			return
		}

		if a.Code() == "" {
			p.Journal.Count("trips called off", 1)

			return
		}

		if !pause(ctx, retryPause) {
			return
		}
	}
}

// decideCallOff has a second person approve most of what needs it, or reject it; or one of each at once. Who asked for it tries to approve
// it first, which is refused. Which it is follows from the amount.
func (p *Run) decideCallOff(ctx context.Context, trip uuid.UUID, api int) {
	var c gen.TripCancellation

	finance, admin := p.finance.named("second person"), p.admin.named("duty admin")

	a, ok := admin.retryUntilDecided(ctx, request{method: http.MethodGet, path: tripPath(trip) + "/cancellation", api: api})
	if !ok {
		return
	}

	p.note(a.Data(&c))

	if !c.NeedsApproval {
		return
	}

	path, note := tripPath(trip)+"/cancel/", map[string]any{"note": "Called the driver."}
	approve := request{method: http.MethodPost, path: path + "approve", api: api, body: note}
	reject := request{method: http.MethodPost, path: path + "reject", api: api + 1, body: note}

	requester := p.company.named("dispatcher")
	if p.admin.is(c.RequestedBy) {
		requester = admin
	}

	own, ok := requester.retryUntilDecided(ctx, approve, models.CodeForbidden)
	if ok && own.Code() == "" {
		p.Journal.Problemf(requester.who, "the cancellation of trip %s was approved by who asked for it", trip)
	}

	var all sync.WaitGroup

	way := c.RefundTotal.Halalas() % 4
	if way != 0 {
		all.Go(func() { p.sendCallOffDecision(ctx, finance, approve, "call-offs approved") })
	}

	if way < 2 {
		all.Go(func() { p.sendCallOffDecision(ctx, admin, reject, "call-offs rejected") })
	}

	all.Wait()
}

func (p *Run) sendCallOffDecision(ctx context.Context, by caller, r request, what string) {
	a, ok := by.twice(ctx, r, models.CodeInvalidState)
	if ok && a.Code() == "" {
		p.Journal.Count(what, 1)
	}
}

// pauseCallOff is an operator who has the workflow pause and go on, by signals as the runbook says.
func (p *Run) pauseCallOff(ctx context.Context, trip uuid.UUID, how time.Duration) {
	if how == 0 || !p.signal(ctx, trip, workflows.SignalPause) {
		return
	}

	p.Journal.Count("call-offs paused", 1)
	pause(ctx, how)

	for !p.signal(ctx, trip, workflows.SignalResume) && p.isUnderWay(ctx, trip) {
		if !pause(ctx, retryPause) {
			return
		}
	}
}

// signal reports whether the workflow that calls a trip off got it.
func (p *Run) signal(ctx context.Context, trip uuid.UUID, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()

	err := p.env.Temporal.SignalWorkflow(ctx, models.TripCancellationWorkflowID(trip), "", name, nil)
	if name != workflows.SignalLook {
		p.Journal.Stepf("operator", "signals %s to the cancellation of trip %s: %v", name, trip, err)
	}

	return err == nil
}

// isUnderWay reports that a resume may still be needed: the workflow runs, or it cannot be said.
func (p *Run) isUnderWay(ctx context.Context, trip uuid.UUID) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()

	d, err := p.env.Temporal.DescribeWorkflow(ctx, models.TripCancellationWorkflowID(trip), "")

	return err != nil || d.WorkflowCloseTime == nil
}

// lookAgain has what could not be cancelled tried again: an operator does not wait the minutes that the workflow would.
func (p *Run) lookAgain(ctx context.Context) {
	for _, c := range p.schedule.CallOffs {
		p.signal(ctx, p.Trips[c.Trip], workflows.SignalLook)
	}
}

// CallOffs are what the API says of every trip that was called off, now that all is over.
func (p *Run) CallOffs(ctx context.Context) map[uuid.UUID]gen.TripCancellation {
	all := map[uuid.UUID]gen.TripCancellation{}

	for _, c := range p.schedule.CallOffs {
		var off gen.TripCancellation

		trip := p.Trips[c.Trip]

		a, ok := p.admin.named("auditor").retryUntilDecided(ctx, request{method: http.MethodGet, path: tripPath(trip) + "/cancellation"})
		if ok {
			p.note(a.Data(&off))
			all[trip] = off
		}
	}

	return all
}
