package cmd

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"rihla/internal/config"
	"rihla/internal/telemetry"
)

func newWorker() *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "Run the workflows and activities",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(config.Config.RequireWorker)
			if err != nil {
				return err
			}

			slog.SetDefault(telemetry.NewLogger(cmd.ErrOrStderr(), cfg.App))

			metrics := telemetry.NewMetrics(prometheus.NewRegistry())

			stopMetrics, err := serveMetrics(cmd.Context(), cfg.Metrics.Addr, metrics)
			if err != nil {
				return err
			}
			defer stopMetrics()

			stop, err := startWorker(cmd.Context(), cfg, metrics)
			if err != nil {
				return err
			}

			<-cmd.Context().Done()
			stop()

			return nil
		},
	}
}

// serveMetrics answers /metrics on addr; of none, it serves nothing. The API has its own.
func serveMetrics(ctx context.Context, addr string, m *telemetry.Metrics) (stop func(), err error) {
	if addr == "" {
		return func() {}, nil
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("METRICS_ADDR: %w", err)
	}

	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())

	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}

	go func() { _ = server.Serve(listener) }()

	return func() { _ = server.Close() }, nil
}
