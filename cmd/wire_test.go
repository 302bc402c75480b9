package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/internal/store/storetest"
	"rihla/internal/telemetry"
)

// A part that cannot be wired is an error, and the parts that were opened before it are closed.
func TestStartWithAnUnreadableProfile(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "temporal.toml")
	require.NoError(t, os.WriteFile(profile, []byte("[profile"), 0o600))
	t.Setenv("TEMPORAL_CONFIG_FILE", profile)

	cfg, err := config.Load(map[string]string{"DATABASE_URL": storetest.Database(t)})
	require.NoError(t, err)

	registry := prometheus.NewRegistry()
	metrics := telemetry.NewMetrics(registry)

	_, err = startAPI(t.Context(), cfg, registry, metrics)
	require.ErrorContains(t, err, "Temporal configuration")

	_, err = startWorker(t.Context(), cfg, metrics)
	require.ErrorContains(t, err, "Temporal configuration")
}
