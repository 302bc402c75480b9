package harness

// Logs are what the processes of the stack have logged since their last start, by name. The gateway logs at DEBUG, and
// without the service's own redaction.
func (s *Stack) Logs() map[string]string {
	return map[string]string{"api": s.API.Log(), "worker": s.Worker.Log(), "gateway": s.gatewayLog.String()}
}
