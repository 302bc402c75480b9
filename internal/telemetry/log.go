// Package telemetry is how the service tells operators what it does: structured logs that carry the request's id and
// no secrets, and Prometheus metrics.
package telemetry

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"rihla/internal/config"
)

// NewLogger logs to w at the configured level: JSON in production, text otherwise. Attributes with the names of secrets
// or of personal data are written as "[redacted]", and so is what Scrub finds in texts (rules: privacy.logs). Records logged with a
// context get its request_id, and its trace_id when it is traced.
func NewLogger(w io.Writer, app config.App) *slog.Logger {
	options := &slog.HandlerOptions{Level: app.LogLevel, ReplaceAttr: redact}

	if app.Env == config.Production {
		return slog.New(contextHandler{slog.NewJSONHandler(w, options)})
	}

	return slog.New(contextHandler{slog.NewTextHandler(w, options)})
}

type requestIDKey struct{}

// WithRequestID is ctx with the id of the request (X-Request-Id) that everything done with it is for.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID is the id that WithRequestID put into ctx, or empty.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)

	return id
}

// contextHandler adds what the context knows to each record.
type contextHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h contextHandler) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}

	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()))
	}

	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}

var (
	// sensitiveParts make a name sensitive wherever they stand in it, as in card_number or NewPassword.
	sensitiveParts = []string{
		"password", "passwd", "secret", "token", "authorization", "cookie", "signature", "apikey", "privatekey", "signingkey",
		"cardnumber", "cvv", "cvc", "documentnumber", "passport", "iban",
	}
	// sensitiveNames are too short or too common to be looked for inside other names.
	sensitiveNames = map[string]struct{}{
		"card": {}, "pan": {}, "dsn": {}, "email": {}, "phone": {}, "recipient": {}, "passengers": {}, "contact": {},
		"databaseurl": {}, "redisurl": {}, "smtpurl": {},
	}
	separators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")
)

func redact(groups []string, a slog.Attr) slog.Attr {
	if isSensitive(a.Key) || slices.ContainsFunc(groups, isSensitive) {
		return slog.String(a.Key, hidden)
	}

	return scrubbed(a)
}

func isSensitive(name string) bool {
	name = separators.Replace(strings.ToLower(name))
	if _, ok := sensitiveNames[name]; ok {
		return true
	}

	for _, part := range sensitiveParts {
		if strings.Contains(name, part) {
			return true
		}
	}

	return false
}
