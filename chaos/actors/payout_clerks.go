package actors

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/models"
)

// payoutClerks pay out manually what no gateway gives back, approve refunds over the limit, and have called-off trips looked at again. They
// are at it until the schedule has come to rest.
type payoutClerks struct {
	stop context.CancelFunc
	done sync.WaitGroup
}

// clerkPause is between two looks at the list.
const clerkPause = 300 * time.Millisecond

func (p *Run) startPayoutClerks(ctx context.Context) {
	ctx, p.clerks.stop = context.WithCancel(context.WithoutCancel(ctx))

	p.clerks.done.Go(func() {
		approved, decided := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}

		for pause(ctx, clerkPause) {
			p.decideApprovals(ctx, approved)
			p.decidePayouts(ctx, decided)
			p.lookAgain(ctx)
		}
	})
}

// StopPayoutClerks ends the payout clerks' work.
func (p *Run) StopPayoutClerks() {
	if p.clerks.stop != nil {
		p.clerks.stop()
		p.clerks.done.Wait()
	}
}

func (p *Run) decidePayouts(ctx context.Context, decided map[uuid.UUID]bool) {
	var list []gen.Refund

	// A look that fails is made again; it is not sent until it is decided.
	a, err := p.admin.named("payout clerk").once(ctx, request{
		method: http.MethodGet, path: "/api/v1/admin/refunds?needs_payout=true&per_page=100",
	}, len(decided))
	if err != nil || a.Status != http.StatusOK {
		return
	}

	p.note(a.Data(&list))

	for _, r := range list {
		if !decided[r.ID] && p.decide(ctx, r) {
			decided[r.ID] = true
		}
	}
}

// decide confirms most payouts, rejects some, and does both at once with others: then one of them wins, once. Which, follows
// from the amount, as that does from the schedule.
func (p *Run) decide(ctx context.Context, r gen.Refund) bool {
	path := "/api/v1/admin/refunds/" + r.ID.String()
	confirm := request{method: http.MethodPost, path: path + "/confirm-payout", body: map[string]any{
		"payout_reference": "HAND-" + r.ID.String()[24:], "paid_out_on": models.DateIn(time.Now()).String(),
	}}
	reject := request{method: http.MethodPost, path: path + "/reject-payout", api: 1, body: map[string]any{"reason": "No such account."}}

	amount := r.Amount.String()

	switch last := amount[len(amount)-1] % 4; {
	case r.ReturnedAt != nil, r.RequestedBy == nil || last > 1: // what came back, and the service's own, is owed
		return p.confirm(ctx, confirm)
	case last == 1:
		return p.sendDecision(ctx, p.finance, reject, "manual payouts rejected")
	}

	var both sync.WaitGroup
	defer both.Wait()

	both.Go(func() { p.sendDecision(ctx, p.finance, reject, "manual payouts rejected") })

	return p.confirm(ctx, confirm)
}

// confirm has an admin confirm a payout, and finance staff what the admin has asked for: a request that is approved, a trip called off.
func (p *Run) confirm(ctx context.Context, r request) bool {
	const confirmed = "manual payouts confirmed"

	a, ok := p.admin.named("payout clerk").retryUntilDecided(ctx, r, models.CodeInvalidState, models.CodeForbidden)
	if ok && a.Code() == models.CodeForbidden {
		return p.sendDecision(ctx, p.finance, r, confirmed)
	}

	if ok && a.Code() == "" {
		p.Journal.Count(confirmed, 1)
	}

	return ok
}

func (p *Run) sendDecision(ctx context.Context, by caller, r request, what string) bool {
	a, ok := by.named("payout clerk").retryUntilDecided(ctx, r, models.CodeInvalidState)
	if ok && a.Code() == "" {
		p.Journal.Count(what, 1)
	}

	return ok
}
