package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"rihla/internal/config"
)

func newMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database to the newest schema",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(config.Config.RequireDatabase)
			if err != nil {
				return err
			}

			s, err := openStore(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer s.Close()

			applied, err := s.Migrate(cmd.Context())
			if err != nil {
				return err
			}

			for _, name := range applied {
				fmt.Fprintln(cmd.OutOrStdout(), "applied", name)
			}

			if len(applied) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing to apply")
			}

			return nil
		},
	}
}
