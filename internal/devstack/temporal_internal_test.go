package devstack

import (
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTemporalIsNotAStranger: between the choice of a port and the server's own listening another server may take the port, and
// answers there. Believing it would put our workers on a stranger's queues.
func TestTemporalIsNotAStranger(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	bin, err := ModuleRoot()
	require.NoError(t, err)
	options := func() TemporalOptions {
		return TemporalOptions{DataDir: t.TempDir(), BinDir: bin + "/" + DefaultDataDir + "/bin", InMemory: true, Headless: true, Log: log}
	}
	first, err := StartTemporal(t.Context(), options())
	require.NoError(t, err)
	t.Cleanup(first.Kill)
	second, err := StartTemporal(t.Context(), options())
	require.NoError(t, err)
	t.Cleanup(second.Kill)

	own := second.port
	second.Kill()
	second.port = first.port // as if it had been free a moment ago
	require.ErrorIs(t, second.Start(t.Context()), errPortTaken)

	second.port = own
	require.NoError(t, second.Start(t.Context()))
}
