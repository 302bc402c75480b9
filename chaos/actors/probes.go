package actors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/chaos/env"
	"rihla/chaos/schedule"
	"rihla/e2e/rig"
	"rihla/models"
)

// probe runs one probe.
func (p *Run) probe(ctx context.Context, i int, e schedule.Probe) {
	who := fmt.Sprintf("errand %d", i+1)
	p.Journal.Count("probes: "+string(e.Kind), 1)

	switch e.Kind {
	case schedule.ReadsSummary:
		p.finance.named(who).retryUntilDecided(ctx, request{
			method: http.MethodGet, path: "/api/v1/admin/financial-reports/summary?period=today", api: e.API,
		})
	case schedule.ReadsRecords:
		p.readRecords(ctx, p.finance.named(who), e.API)
	case schedule.Exports:
		p.export(ctx, p.finance.named(who), e.API)
	case schedule.MovesTrip:
		p.move(ctx, p.company.named(who), e)
	case schedule.Replayed:
		p.replay(ctx, who, e.API)
	default:
		p.forge(ctx, who, e)
	}
}

// move has the company give a trip another departure.
func (p *Run) move(ctx context.Context, by caller, e schedule.Probe) {
	to := p.leaves[e.Trip].Add(e.By)

	var refusals []models.Code
	if p.isCalledOff(e.Trip) {
		refusals = append(refusals, models.CodeInvalidState)
	}

	a, ok := by.retryUntilDecided(ctx, request{
		method: http.MethodPatch, path: "/api/v1/provider/trips/" + p.Trips[e.Trip].String(), api: e.API,
		body: map[string]any{"departure_at": to, "return_at": rig.Returns(to)},
	}, refusals...)
	if ok && a.Code() == models.CodeInvalidState {
		p.Journal.Count("moves refused: called off", 1)
	}
}

// readRecords walks through all pages; no entry may come twice.
func (p *Run) readRecords(ctx context.Context, by caller, api int) {
	seen := map[uuid.UUID]bool{}
	path := "/api/v1/admin/financial-records?per_page=50"

	for next := path; next != ""; {
		var page gen.FinancialRecordsAnswer

		a, ok := by.retryUntilDecided(ctx, request{method: http.MethodGet, path: next, api: api})
		if !ok {
			return
		}

		p.note(a.Into(&page))

		for _, line := range page.Data {
			if seen[line.ID] {
				p.Journal.Problemf(by.who, "entry %s is on two pages", line.ID)
			}

			seen[line.ID] = true
		}

		if next = ""; text(page.Meta.NextCursor) != "" {
			next = path + "&cursor=" + *page.Meta.NextCursor
		}
	}
}

// export reads the whole file. One that was interrupted must not look complete, and is asked for again.
func (p *Run) export(ctx context.Context, by caller, api int) {
	a, ok := by.retryUntilDecided(ctx, request{method: http.MethodGet, path: "/api/v1/admin/financial-records/export?format=csv", api: api})
	if ok && !bytes.HasSuffix(a.Body, []byte("\n")) {
		p.Journal.Problemf(by.who, "an export ends in the middle of a line: %d bytes", len(a.Body))
	}
}

// replay sends a webhook again that was answered with 200.
func (p *Run) replay(ctx context.Context, who string, api int) {
	for ; ; api++ {
		status, body, err := p.env.WebhookProxy.Replay(ctx, api)
		if errors.Is(err, env.ErrNoWebhook) {
			return
		}

		p.Journal.Stepf(who, "sends a webhook again: %d %v", status, err)

		switch {
		case err == nil && status == http.StatusOK:
			if !bytes.Contains(body, []byte(`"duplicate":true`)) {
				p.Journal.Problemf(who, "a webhook that came already is answered %s", body)
			}

			return
		case err == nil && status != http.StatusServiceUnavailable:
			p.Journal.Problemf(who, "a webhook that came already is answered %d %s", status, body)

			return
		}

		if !pause(ctx, retryPause) {
			return
		}
	}
}

// forge sends a webhook that must not be believed. It is about a real payment where there is one.
func (p *Run) forge(ctx context.Context, who string, e schedule.Probe) {
	if e.Kind == schedule.StaleSignature && !p.env.Company.SignsTime {
		p.Journal.Stepf(who, "%s: the company's proof has no time", e.Kind)

		return
	}

	m, id, err := p.env.Forged(e.Kind, p.claim(e.Kind))
	p.note(err)

	want := http.StatusUnauthorized
	if e.Kind == schedule.UnknownPayment {
		want = http.StatusNotFound
		if p.env.Company.Hints {
			want = http.StatusOK
		}
	}

	header := map[string]string{}
	for name := range m.Header {
		header[name] = m.Header.Get(name)
	}

	for api := e.API; ; api++ {
		a, err := rig.Client{URL: p.env.API(api)}.Do(ctx, http.MethodPost, "/api/v1/payments/"+models.ChannelGatewayA.Path(), m.Body, header)
		p.Journal.Stepf(who, "%s (API %d): %d %v", e.Kind, api%schedule.APIs+1, a.Status, err)

		if err == nil && a.Status != http.StatusServiceUnavailable {
			if a.Status != want {
				p.Journal.Problemf(who, "%s is answered %d %s", e.Kind, a.Status, a.Body)
			}

			if a.Status == http.StatusNotFound {
				p.mu.Lock()
				p.Unknown = append(p.Unknown, id)
				p.mu.Unlock()
			}

			return
		}

		if !pause(ctx, retryPause) {
			return
		}
	}
}

// claim is a payment that was not made: of a real attempt, or of none.
func (p *Run) claim(kind schedule.ProbeKind) env.Claim {
	c := env.Claim{Transaction: uuid.New(), Amount: models.Halalas(12345)}

	p.mu.Lock()
	defer p.mu.Unlock()

	for _, b := range p.Bookings {
		if b != nil && kind != schedule.UnknownPayment {
			c = env.Claim{Transaction: b.Payment.TransactionID, Checkout: text(b.Payment.Reference), Amount: b.Amount}
		}
	}

	return c
}
