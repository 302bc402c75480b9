package api

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
)

// BenchmarkChain is what the middleware costs around a handler that does nothing, without the network.
func BenchmarkChain(b *testing.B) {
	app := setup(b, func(d *Deps) { d.Log = slog.New(slog.DiscardHandler) }).app
	_ = app.Handler() // builds the routing tree, as listening would
	handler := app.Server().Handler

	for _, bb := range []struct{ name, method, path, body string }{
		{"health", http.MethodGet, "/healthz", ""},
		{"payment-status", http.MethodGet, bookingPath + "/" + tripID.String() + "/payment-status", ""},
		{"payment-status-wait", http.MethodGet, bookingPath + "/" + tripID.String() + "/payment-status?wait=20", ""},
		{"webhook", http.MethodPost, "/api/v1/payments/webhook/gateway_a", bookingBody},
		{"booking", http.MethodPost, bookingPath, bookingBody},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()

			for b.Loop() {
				ctx := &fasthttp.RequestCtx{}
				ctx.Request.Header.SetMethod(bb.method)
				ctx.Request.SetRequestURI(bb.path)
				ctx.Request.Header.Set("Authorization", "Bearer END_USER")
				ctx.Request.Header.Set("webhook-id", "1")
				ctx.Request.Header.Set("webhook-timestamp", "1")
				ctx.Request.Header.Set("webhook-signature", "v1,x")
				ctx.Request.Header.SetContentType("application/json")
				ctx.Request.SetBodyString(bb.body)
				handler(ctx)
				require.Less(b, ctx.Response.StatusCode(), http.StatusBadRequest)
			}
		})
	}
}
