package harness

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

const gatewayLog = "gateway.log"

// Logs are what the processes of the stack have logged since their last start, by name. The gateway logs at DEBUG, and
// without the service's own redaction.
func (s *Stack) Logs() map[string]string {
	s.tb.Helper()

	gateway, err := os.ReadFile(filepath.Join(s.DataDir, gatewayLog))
	require.NoError(s.tb, err)

	return map[string]string{"api": s.API.Log(), "worker": s.Worker.Log(), "gateway": string(gateway)}
}
