package cmd

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/store/storetest"
	"rihla/internal/telemetry"
	"rihla/models"
)

// TestStopRightAfterStart: an API that is asked to stop while it starts ends, and does not serve on for ever.
func TestStopRightAfterStart(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	keys := filepath.Join(dir, "keys", "signing.pem")
	require.NoError(t, auth.GenerateKeyFile(keys))

	environ := map[string]string{
		"DATABASE_URL": storetest.Database(t), "TEMPORAL_ADDRESS": "127.0.0.1:1", "DATA_DIR": dir, "LISTEN_ADDR": "127.0.0.1:0",
		"JWT_SIGNING_KEYS": keys, "MEDIA_URL_SECRET": "stop-media-url-secret-0123456789",
	}
	for _, channel := range models.Channels() {
		environ["WEBHOOK_SECRETS_"+strings.ToUpper(string(channel))] = config.DevWebhookSecret(channel).Reveal()
	}

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
