package cmd

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
)

// TestEveryProblemIsNamedAtOnce: a start reports all problems of the settings of production, not one per start.
func TestEveryProblemIsNamedAtOnce(t *testing.T) {
	t.Parallel()

	environ := map[string]string{
		"APP_ENV": "production", "BOOKING_HOLD": "soon", "DB_MAX_CONNS": "0", "REDIS_URL": "redis://redis:6379",
		"DATABASE_URL": "postgres://rihla:secret-of-nobody@127.0.0.1:1/rihla?sslmode=disable", "TEMPORAL_CODEC_KEYS": "short",
		"GATEWAY_A_URL": "http://gateway.example.com",
	}
	both := []string{"BOOKING_HOLD", "DB_MAX_CONNS", "DATABASE_URL", "TEMPORAL_CODEC_KEYS", "TEMPORAL_TLS ", "TEMPORAL_API_KEY"}

	for name, tt := range map[string]struct {
		need func(config.Config) error
		want []string
	}{
		"api":    {config.Config.RequireAPI, append([]string{"REDIS_URL", "PUBLIC_URL", "JWT_SIGNING_KEYS", "TICKET_SIGNING_KEYS", "WEBHOOK_SECRETS_WALLET_B"}, both...)},
		"worker": {config.Config.RequireWorker, append([]string{"TICKET_SIGNING_KEYS", "GATEWAY_A_DRIVER", "GATEWAY_A_URL", "WALLET_B_API_KEY"}, both...)},
	} {
		_, err := loadServingFrom(io.Discard, environ, tt.need)

		for _, variable := range tt.want {
			require.ErrorContains(t, err, variable, name)
		}

		require.NotContains(t, err.Error(), "secret-of-nobody")
	}

	_, err := loadServingFrom(io.Discard, map[string]string{"TEMPORAL_PROFILE": "no-such-profile"}, config.Config.RequireAPI)
	require.ErrorContains(t, err, "no-such-profile")
	require.ErrorContains(t, err, "DATABASE_URL is missing")
}

// TestProductionWarnsOfReturnsToAnywhere: once, with what to set, and only where it matters.
func TestProductionWarnsOfReturnsToAnywhere(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		cfg  config.Config
		said int
	}{
		"production":  {config.Config{App: config.App{Env: config.Production}}, 1},
		"its hosts":   {config.Config{App: config.App{Env: config.Production}, Returns: config.Returns{Hosts: []string{"app.example.com"}}}, 0},
		"development": {config.Config{App: config.App{Env: config.Development}}, 0},
	} {
		var said bytes.Buffer

		warnOfReturns(t.Context(), slog.New(slog.NewTextHandler(&said, nil)), tt.cfg)
		require.Equal(t, tt.said, strings.Count(said.String(), "RETURN_URL_HOSTS"), name)
	}
}
