package sandbox_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/gateways/gatewaytest"
	"rihla/gateways/sandbox"
	sandboxsim "rihla/gateways/simulator/sandbox"
)

// BenchmarkPayment is a checkout, its payment and its webhook, by many clients at once.
func BenchmarkPayment(b *testing.B) {
	for name, noSync := range map[string]bool{"synced": false, "not synced": true} {
		b.Run(name, func(b *testing.B) {
			hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			defer hook.Close()

			cfg := config(hook.URL, filepath.Join(b.TempDir(), "state.db"))
			cfg.NoSync = noSync
			cfg.Logger = slog.New(slog.DiscardHandler)

			s, err := sandboxsim.New(cfg)
			require.NoError(b, err)

			defer func() { require.NoError(b, s.Close(context.Background())) }()

			url, err := s.Start("127.0.0.1:0")
			require.NoError(b, err)

			driver, err := sandbox.New(sandbox.Config{BaseURL: url, APIKey: apiKey})
			require.NoError(b, err)

			b.SetParallelism(32)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					c, err := driver.CreateCheckout(b.Context(), gatewaytest.Request())
					if err != nil {
						b.Error(err)

						return
					}

					res, err := http.Post(c.URL, "application/json", strings.NewReader(`{"outcome":"succeed"}`))
					if err != nil {
						b.Error(err)

						return
					}

					_ = res.Body.Close()
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "payments/s")
		})
	}
}
