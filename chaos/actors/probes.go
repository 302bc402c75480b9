package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/chaos/env"
	"rihla/chaos/schedule"
	"rihla/gateways/standardwebhook"
	"rihla/internal/rig"
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

	by.retryUntilDecided(ctx, request{
		method: http.MethodPatch, path: "/api/v1/provider/trips/" + p.Trips[e.Trip].String(), api: e.API,
		body: map[string]any{"departure_at": to, "return_at": rig.Returns(to)},
	})
}

// readRecords walks through all pages; no line may come twice.
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
				p.Journal.Problemf(by.who, "line %s is on two pages", line.ID)
			}

			seen[line.ID] = true
		}

		if next = ""; text(page.Meta.NextCursor) != "" {
			next = path + "&cursor=" + *page.Meta.NextCursor
		}
	}
}

// export reads the whole file. One that broke off on the way must not look complete, and is asked for again.
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
	body := p.forgedBody(e.Kind)

	want := http.StatusUnauthorized
	if e.Kind == schedule.UnknownPayment {
		want = http.StatusNotFound
	}

	for api := e.API; ; api++ {
		id, a, err := p.post(ctx, api, e.Kind, body)
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

// forgedID marks the webhooks that must have left nothing behind.
const forgedID = "evt_forged_"

func (p *Run) forgedBody(kind schedule.ProbeKind) []byte {
	transaction, reference, amount := uuid.New(), "co_"+uuid.NewString(), models.Halalas(12345)

	p.mu.Lock()
	for _, b := range p.Bookings {
		if b != nil && kind != schedule.UnknownPayment {
			transaction, reference, amount = b.Payment.TransactionID, text(b.Payment.Reference), b.Amount
		}
	}
	p.mu.Unlock()

	body, err := json.Marshal(map[string]any{
		"type": models.EventPaymentSucceeded, "timestamp": time.Now().UTC(), "data": map[string]any{
			"checkout_id": reference, "merchant_reference": transaction, "amount": amount, "currency": models.Currency,
			"payment_method": models.MethodCreditCard, "result_code": "APPROVED",
		},
	})
	p.note(err)

	return body
}

func (p *Run) post(ctx context.Context, api int, kind schedule.ProbeKind, body []byte) (id string, a rig.Answer, err error) {
	header, err := sign(kind, body)
	if err != nil {
		return "", a, err
	}

	a, err = rig.Client{URL: p.env.API(api)}.Do(ctx, http.MethodPost, "/api/v1/payments/"+models.ChannelGatewayA.Path(), body, header)

	return header[standardwebhook.HeaderID], a, err
}

// sign is the signature that the kind of forgery has.
func sign(kind schedule.ProbeKind, body []byte) (map[string]string, error) {
	channel, when, id := models.ChannelGatewayA, time.Now(), forgedID+uuid.NewString()

	switch kind {
	case schedule.Unsigned:
		return map[string]string{}, nil
	case schedule.OtherChannel:
		channel = models.ChannelWalletB
	case schedule.StaleSignature:
		when = when.Add(-10 * time.Minute)
	case schedule.UnknownPayment:
		id = "evt_unknown_" + uuid.NewString()
	case schedule.ForgedSignature:
		body = append([]byte(" "), body...) // a signature of the right form, of something else
	default: // signed as the gateway does
	}

	return rig.SignWebhook(channel, id, when, body)
}
