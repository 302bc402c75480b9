package cmd

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"rihla/e2e/rig"
	"rihla/internal/config"
	"rihla/internal/store/storetest"
	"rihla/internal/telemetry"
)

// TestStopRightAfterStart: an API that is asked to stop while it starts ends, and does not serve on for ever.
func TestStopRightAfterStart(t *testing.T) {
	t.Parallel()

	environ, err := rig.Settings(t.TempDir(), storetest.Database(t), "127.0.0.1:1")
	require.NoError(t, err)

	environ["LISTEN_ADDR"] = "127.0.0.1:0"

	cfg, err := config.Load(environ)
	require.NoError(t, err)

	for range 20 {
		registry := prometheus.NewRegistry()

		stop, err := startAPI(t.Context(), cfg, registry, telemetry.NewMetrics(registry))
		require.NoError(t, err)

		stopped := make(chan error, 1)
		go func() { stopped <- stop() }()

		select {
		case err := <-stopped:
			require.NoError(t, err)
		case <-time.After(30 * time.Second):
			require.Fail(t, "it serves on")
		}
	}
}
