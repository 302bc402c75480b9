package telemetry

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"rihla/internal/config"
)

func TestLoggerWritesJSONInProduction(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer

	log := NewLogger(&out, config.App{Env: config.Production, LogLevel: slog.LevelInfo})
	ctx := trace.ContextWithSpanContext(WithRequestID(t.Context(), "r-1"), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{0xab}, SpanID: trace.SpanID{1},
	}))

	log.DebugContext(ctx, "too fine")
	log.With("component", "api").InfoContext(ctx, "request", "status", 200)

	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), out.String())
	delete(line, "time")
	require.Equal(t, map[string]any{
		"level": "INFO", "msg": "request", "component": "api", "status": 200.0, "request_id": "r-1",
		"trace_id": "ab000000000000000000000000000000",
	}, line)
}

func TestLoggerWritesTextInDevelopment(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer

	log := NewLogger(&out, config.App{Env: config.Development, LogLevel: slog.LevelDebug})
	log.DebugContext(t.Context(), "hello")
	require.Contains(t, out.String(), "level=DEBUG msg=hello\n")
	require.NotContains(t, out.String(), "request_id")
}

func TestLoggerRedacts(t *testing.T) {
	t.Parallel()

	for _, production := range []config.Environment{config.Production, config.Development} {
		var out bytes.Buffer

		log := NewLogger(&out, config.App{Env: production})

		for _, name := range []string{
			"password", "new_password", "Authorization", "refresh_token", "accessToken", "webhook-signature", "api_key", "card", "card.number",
			"cvv", "document_number", "email", "phone", "DATABASE_URL", "client_secret", "Set-Cookie",
		} {
			log.Info("m", name, "s3ntinel")
			log.With(name, "s3ntinel").Info("m")
			log.Info("m", slog.Group("body", slog.Any(name, []string{"s3ntinel"})))
			log.Info("m", slog.Group(name, slog.String("value", "s3ntinel")))
			log.WithGroup(name).Info("m", "value", "s3ntinel")
		}

		require.NotContains(t, out.String(), "s3ntinel")

		out.Reset()
		log.Info("shown", "user_id", "u", "company", "c", "discarded", "d", "contacted", "e", "path", "/p")
		require.NotContains(t, out.String(), "redacted")
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()

	require.Empty(t, RequestID(t.Context()))
	require.Equal(t, "b", RequestID(WithRequestID(WithRequestID(t.Context(), "a"), "b")))
}
