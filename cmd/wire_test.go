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

// What cannot be wired is said, and what was opened before it is closed.
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
