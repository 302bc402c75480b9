package cmd

import (
	"log/slog"

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

			stop, err := startWorker(cmd.Context(), cfg)
			if err != nil {
				return err
			}

			<-cmd.Context().Done()
			stop()

			return nil
		},
	}
}
