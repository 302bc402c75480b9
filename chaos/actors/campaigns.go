package actors

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/chaos/schedule"
	"rihla/models"
)

// advertise makes a campaign and pays for it, or does not.
func (p *Run) advertise(ctx context.Context, i int, c schedule.Campaign) {
	by := p.company.named(fmt.Sprintf("advertiser %d", i+1))
	from := models.DateIn(time.Now()).AddDays(c.StartsIn)

	var (
		campaign gen.AdCampaign
		refusals []models.Code
	)

	if p.isCalledOff(c.Trip) {
		refusals = append(refusals, models.CodeValidation)
	}

	// Without a key: a request that is sent again may make a second campaign, which is never paid.
	a, ok := by.retryUntilDecided(ctx, request{
		method: http.MethodPost, path: "/api/v1/provider/ad-campaigns", api: c.API, body: map[string]any{
			"trip_id": p.Trips[c.Trip], "title": fmt.Sprintf("Campaign %d", i+1), "starts_on": from.String(),
			"ends_on": from.AddDays(7).String(), "price": c.Price,
		},
	}, refusals...)
	if !ok {
		return
	}

	if a.Code() != "" {
		if !strings.Contains(string(a.Body), `"trip_id"`) {
			p.note(fmt.Errorf("%s: a campaign for a trip that is called off was refused for something else: %s", by.who, a.Body))
		}

		p.Journal.Count("campaigns refused: called off", 1)

		return
	}

	p.note(a.Data(&campaign))
	p.Journal.Count("campaigns: "+string(c.Ending), 1)

	p.mu.Lock()
	p.Campaigns = append(p.Campaigns, campaign.ID)
	p.mu.Unlock()

	if c.Ending == schedule.DeclinedThenPays {
		declined := p.payCampaign(ctx, by, campaign.ID, c, "decline")

		if declined && !p.env.Gateway.Traits().Retryable {
			p.awaitCampaign(ctx, by, campaign.ID, c.API)
		}
	}

	if c.Ending != schedule.WalksAway {
		p.payCampaign(ctx, by, campaign.ID, c, "succeed")
	}
}

// payCampaign opens a checkout and presses a button on its page; false when it is not to be paid, as of a trip that is to be called off.
func (p *Run) payCampaign(ctx context.Context, by caller, id uuid.UUID, c schedule.Campaign, outcome string) bool {
	for {
		var t gen.PaymentTransaction

		a, ok := by.retryUntilDecided(ctx, request{
			method: http.MethodPost, path: "/api/v1/payments/ad-campaign/" + id.String() + "/intent", key: newKey(), api: c.API,
			body: gen.IntentRequest{PaymentMethod: c.Method},
		}, models.CodeCampaignNotPayable, models.CodePaymentInSuspense)
		if !ok || a.Code() != "" {
			return false
		}

		p.Journal.Count("intents", 1)
		p.note(a.Data(&t))

		if t.Reference != nil {
			open, err := p.env.Gateway.Press(*t.Reference, outcome)
			p.note(err)
			p.Journal.Stepf(by.who, "presses %s at the gateway: still open: %v", outcome, open)

			return true
		}

		if !pause(ctx, retryPause) {
			return false
		}
	}
}

// awaitCampaign waits until the campaign has left PENDING_PAYMENT.
func (p *Run) awaitCampaign(ctx context.Context, by caller, id uuid.UUID, api int) {
	for {
		var now gen.AdCampaign

		a, ok := by.retryUntilDecided(ctx, request{method: http.MethodGet, path: "/api/v1/provider/ad-campaigns/" + id.String(), api: api})
		if !ok {
			return
		}

		p.note(a.Data(&now))

		if now.Status != models.CampaignPendingPayment || !pause(ctx, retryPause) {
			return
		}
	}
}
