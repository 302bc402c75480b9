package api

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
)

// BenchmarkChain is what the middleware costs around a handler that does nothing, and reading the request, without the network.
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
			request := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: rihla.test\r\nAuthorization: Bearer END_USER\r\nwebhook-id: 1\r\n"+
				"webhook-timestamp: 1\r\nwebhook-signature: v1,x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				bb.method, bb.path, len(bb.body), bb.body)
			bytesIn := bytes.NewReader(nil)
			in := bufio.NewReaderSize(bytesIn, readBuffer)

			b.ReportAllocs()

			for b.Loop() {
				ctx := &fasthttp.RequestCtx{}

				bytesIn.Reset(request)
				in.Reset(bytesIn)
				require.NoError(b, ctx.Request.Read(in))
				handler(ctx)
				require.Less(b, ctx.Response.StatusCode(), http.StatusBadRequest, "%s", ctx.Response.Body())
			}
		})
	}
}
