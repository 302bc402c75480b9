package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"rihla/gateways"
	"rihla/models"
)

// countingGateway answers what is asked of the bench's checkouts in the sandbox's protocol, and notes when it was called.
type countingGateway struct {
	takes time.Duration

	mu     sync.Mutex
	status gateways.CheckoutStatus
	calls  []time.Time
}

// begin has all checkouts be in a state, and counts from zero.
func (g *countingGateway) begin(status gateways.CheckoutStatus) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.status, g.calls = status, nil
}

// end takes the moments of the calls, in their order.
func (g *countingGateway) end() []time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()

	calls := g.calls
	g.calls = nil

	return calls
}

// ServeHTTP implements http.Handler.
func (g *countingGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	status := g.status
	g.calls = append(g.calls, time.Now())
	g.mu.Unlock()

	checkout, ok := strings.CutPrefix(r.URL.Path, "/v1/checkouts/")
	if !ok {
		http.NotFound(w, r)

		return
	}

	if id, cancelled := strings.CutSuffix(checkout, "/cancel"); cancelled {
		checkout, status = id, gateways.CheckoutCanceled
	}

	select {
	case <-time.After(g.takes):
	case <-r.Context().Done():
		return
	}

	w.Header().Set("Content-Type", "application/json")

	if err := json.NewEncoder(w).Encode(map[string]any{
		"id": checkout, "merchant_reference": strings.TrimPrefix(checkout, checkoutPrefix), "status": status,
		"amount": json.RawMessage(webhookPrice), "currency": models.Currency,
	}); err != nil {
		return // a client that has gone away is counted all the same
	}
}
