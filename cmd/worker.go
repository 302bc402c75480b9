package cmd

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"rihla/internal/config"
	"rihla/internal/telemetry"
)

func newWorker() *cobra.Command {
	w := &cobra.Command{
		Use:   "worker",
		Short: "Run the workflows and activities",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadServing(config.Config.RequireWorker)
			if err != nil {
				return err
			}

			slog.SetDefault(telemetry.NewLogger(cmd.ErrOrStderr(), cfg.App))

			metrics, err := newMetrics(prometheus.NewRegistry())
			if err != nil {
				return err
			}

			var polls atomic.Bool

			stopMetrics, err := serveMetrics(cmd.Context(), cfg.Metrics.Addr, metrics, polls.Load)
			if err != nil {
				return err
			}
			defer stopMetrics()

			stop, err := startWorker(cmd.Context(), cfg, metrics)
			if err != nil {
				return err
			}

			polls.Store(true)
			<-cmd.Context().Done()
			polls.Store(false)
			stop()

			return nil
		},
	}
	w.AddCommand(newWorkerVerify(), newWorkerPromote(), newWorkerRollback())

	return w
}

// newMetrics are the figures of a process, with what it is built from.
func newMetrics(registry *prometheus.Registry) (*telemetry.Metrics, error) {
	version, err := release()
	if err != nil {
		return nil, err
	}

	m := telemetry.NewMetrics(registry)
	m.Built(version, commit())

	return m, nil
}

// serveMetrics answers /metrics on addr, and /healthz, which is 200 while the process is at work; of no addr, it serves nothing.
func serveMetrics(ctx context.Context, addr string, m *telemetry.Metrics, works func() bool) (stop func(), err error) {
	if addr == "" {
		return func() {}, nil
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("METRICS_ADDR: %w", err)
	}

	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if !works() {
			http.Error(w, "not at work", http.StatusServiceUnavailable)
		}
	})

	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}

	go func() { _ = server.Serve(listener) }()

	return func() { _ = server.Close() }, nil
}
