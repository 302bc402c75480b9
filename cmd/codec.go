package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"rihla/internal/codec"
	"rihla/internal/config"
	"rihla/internal/telemetry"
)

// defaultCodecAddr is where the codec server listens: only programs on this machine reach it.
const defaultCodecAddr = "127.0.0.1:8234"

func newCodec() *cobra.Command {
	var (
		listen  string
		origins []string
	)

	serve := &cobra.Command{
		Use:   "codec",
		Short: "Decrypt workflow histories for the Temporal UI and command line, with TEMPORAL_CODEC_KEYS",
		Long: "Serve the protocol of a remote codec (POST /decode, /encode): the Temporal UI asks it by the address in its codec\n" +
			"settings, the command line by --codec-endpoint. TEMPORAL_CODEC_TOKEN is what callers must present as a bearer token.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(func(c config.Config) error { return c.RequireCodec(!codec.IsLoopback(listen)) })
			if err != nil {
				return err
			}

			slog.SetDefault(telemetry.NewLogger(cmd.ErrOrStderr(), cfg.App))

			listener, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", listen)
			if err != nil {
				return fmt.Errorf("--listen: %w", err)
			}

			return serveCodec(cmd.Context(), cfg, listener, origins)
		},
	}
	serve.Flags().StringVar(&listen, "listen", defaultCodecAddr, "address to listen on")
	serve.Flags().StringSliceVar(&origins, "ui-origin", []string{"http://127.0.0.1:8233", "http://localhost:8233"},
		"origin of the Temporal UI, as browsers send it; may be repeated")
	serve.AddCommand(newCodecKey())

	return serve
}

func newCodecKey() *cobra.Command {
	return &cobra.Command{
		Use:   "new-key ID",
		Short: "Print a fresh key for TEMPORAL_CODEC_KEYS; it goes in front of the ones that are there",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := codec.NewKey(args[0])
			if err != nil {
				return err
			}

			fmt.Fprintln(cmd.OutOrStdout(), key)

			return nil
		},
	}
}

// serveCodec answers until ctx ends, and lets running requests finish.
func serveCodec(ctx context.Context, cfg config.Config, listener net.Listener, origins []string) error {
	c, err := openCodec(cfg)
	if err != nil {
		return errors.Join(err, listener.Close())
	}

	server := &http.Server{
		Handler:           codec.NewHandler(c, codec.Access{Token: cfg.Temporal.CodecToken.Reveal(), Origins: origins}),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
	}

	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	slog.InfoContext(ctx, "codec serves", "address", listener.Addr().String())

	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}

	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.App.ShutdownTimeout)
	defer cancel()

	err = server.Shutdown(ending)
	if stopped := <-served; !errors.Is(stopped, http.ErrServerClosed) {
		err = errors.Join(err, stopped)
	}

	return err
}
