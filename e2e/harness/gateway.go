package harness

import (
	"github.com/stretchr/testify/require"

	"rihla/e2e/rig"
)

// GatewayLedger is what the sandbox gateway knows of its checkouts and refunds.
type GatewayLedger = rig.Ledger

// GatewayStats counts what the sandbox gateway has done since its start.
type GatewayStats = rig.Stats

// Fault makes the sandbox gateway misbehave; f has operation, mode and what they need.
func (s *Stack) Fault(f map[string]any) {
	s.tb.Helper()
	require.NoError(s.tb, s.Gateway.Misbehave(f))
}

// ClearFaults ends all misbehaviour of the sandbox gateway.
func (s *Stack) ClearFaults() {
	s.tb.Helper()
	require.NoError(s.tb, s.Gateway.Behave(""))
}

// PayLate has a customer pay a checkout that had ended.
func (s *Stack) PayLate(checkoutID string) {
	s.tb.Helper()
	require.NoError(s.tb, s.Gateway.PayLate(checkoutID))
}

// DecideRefund decides a refund that the sandbox gateway holds, by the gateway's id; outcome is succeed or fail.
func (s *Stack) DecideRefund(gatewayID, outcome string) {
	s.tb.Helper()
	require.NoError(s.tb, s.Gateway.Decide(gatewayID, outcome))
}

// GatewayLedger asks the sandbox gateway for its books.
func (s *Stack) GatewayLedger() GatewayLedger {
	s.tb.Helper()

	l, err := s.Gateway.Ledger()
	require.NoError(s.tb, err)

	return l
}

// GatewayStats asks the sandbox gateway for its counts.
func (s *Stack) GatewayStats() GatewayStats {
	s.tb.Helper()

	g, err := s.Gateway.Stats()
	require.NoError(s.tb, err)

	return g
}
