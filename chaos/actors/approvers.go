package actors

import (
	"context"
	"net/http"
	"sync"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/models"
)

// decideApprovals has a second person decide about the refunds over the limit.
func (p *Run) decideApprovals(ctx context.Context, decided map[uuid.UUID]bool) {
	var list []gen.Refund

	a, err := p.admin.named("approver").once(ctx, request{
		method: http.MethodGet, path: "/api/v1/admin/refunds?needs_approval=true&per_page=100",
	}, len(decided))
	if err != nil || a.Status != http.StatusOK {
		return
	}

	p.note(a.Data(&list))

	for _, r := range list {
		if !decided[r.ID] && p.decideApproval(ctx, r) {
			decided[r.ID] = true
		}
	}
}

// decideApproval approves most refunds, by two API processes at once; has their requester withdraw some; and does both at once with
// others. Finance staff order them, and so does an admin who approves a cancellation request before finance staff do. The requester tries
// to approve them first, which is refused. Which it is follows from the amount, but not from the digit that decides about payouts.
func (p *Run) decideApproval(ctx context.Context, r gen.Refund) bool {
	path := "/api/v1/admin/refunds/" + r.ID.String()
	approve := request{method: http.MethodPost, path: path + "/approve", body: map[string]any{"note": "Compared with the letter."}}
	reject := request{method: http.MethodPost, path: path + "/reject", api: 1, body: map[string]any{"note": "Asked for by mistake."}}

	requester, second := p.finance, p.admin
	if r.RequestedBy != nil && p.admin.is(*r.RequestedBy) {
		requester, second = second, requester
	}

	own, ok := requester.named("requester").retryUntilDecided(ctx, approve, models.CodeForbidden)
	if ok && own.Code() == "" {
		p.Journal.Problemf("requester", "refund %s was approved by its requester", r.ID)
	}

	switch r.Amount.Halalas() / 10 % 4 {
	case 0:
		return p.sendApproval(ctx, requester, reject, "refunds withdrawn")
	case 1:
		var both sync.WaitGroup
		defer both.Wait()

		both.Go(func() { p.sendApproval(ctx, requester, reject, "refunds withdrawn") })
	}

	return p.sendApproval(ctx, second, approve, "refunds approved")
}

func (p *Run) sendApproval(ctx context.Context, by caller, r request, what string) bool {
	a, ok := by.named("approver").twice(ctx, r, models.CodeInvalidState)
	if ok && a.Code() == "" {
		p.Journal.Count(what, 1)
	}

	return ok
}
