package harness

import (
	"net/http"

	"github.com/stretchr/testify/require"
)

// GatewayStats counts what the sandbox gateway has done since its start.
type GatewayStats struct {
	WebhooksPending   int `json:"webhooks_pending"`
	WebhooksDelivered int `json:"webhooks_delivered"`
	WebhookFailures   int `json:"webhook_failures"` // deliveries that were not answered with 2xx
	WebhooksDropped   int `json:"webhooks_dropped"`
}

// GatewayStats asks the sandbox gateway for its counts.
func (s *Stack) GatewayStats() GatewayStats {
	s.tb.Helper()

	var g GatewayStats

	require.NoError(s.tb, s.sandbox(http.MethodGet, "/sandbox/stats", nil, http.StatusOK).Into(&g))

	return g
}
