package cmd

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rihla/internal/config"
)

// healthTimeout bounds a check: a process that cannot answer for so long is not well.
const healthTimeout = 5 * time.Second

func newHealthcheck() *cobra.Command {
	return &cobra.Command{
		Use:   "healthcheck [URL]",
		Short: "Check that a running process is healthy; for containers, which have no shell",
		Long: "Ask URL, or the API at LISTEN_ADDR whether it is ready, and exit with 1 unless it answers 200 within 5 seconds.\n" +
			"A worker answers at http://METRICS_ADDR/healthz, the sandbox at /healthz.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return askHealth(cmd.Context(), args[0])
			}

			cfg, err := loadConfig(nil)
			if err != nil {
				return err
			}

			return askHealth(cmd.Context(), "http://"+config.Dialable(cfg.HTTP.ListenAddr)+"/readyz")
		},
	}
}

// askHealth is nil when the address answers 200; otherwise it says what it answers.
func askHealth(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}

	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	if answer.StatusCode == http.StatusOK {
		return nil
	}

	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if err != nil {
		return err
	}

	return fmt.Errorf("%s answers %s: %s", address, answer.Status, strings.TrimSpace(string(text)))
}
