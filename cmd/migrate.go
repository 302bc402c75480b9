package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"rihla/internal/config"
)

func newMigrate() *cobra.Command {
	var (
		role string
		plan bool
	)

	migrate := &cobra.Command{
		Use:   "migrate [--plan | --grant-to ROLE]",
		Short: "Bring the database to the newest schema",
		Long: "Bring the database to the newest schema. With --grant-to, give a role that owns nothing what API and worker need, and\n" +
			"nothing else: with it they cannot change what only ever grows (transfers, trails of states, the audit log).\n\n" +
			"With --plan, say what would be done and change nothing: the migrations, their locks, what takes as long as a table is\n" +
			"large, whether the service of the release before goes on meanwhile, and from when on one cannot go back.",
		Args: cobra.NoArgs,
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

			planned, err := s.DB.Plan(cmd.Context())
			if err != nil {
				return err
			}

			if plan {
				return printPlan(cmd.OutOrStdout(), planned)
			}

			applied, err := s.DB.Migrate(cmd.Context())
			if err != nil {
				return err
			}

			for _, name := range applied {
				fmt.Fprintln(cmd.OutOrStdout(), "applied", name)
			}

			if len(applied) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing to apply")
			}

			if role == "" {
				return nil
			}

			if err := s.DB.GrantTo(cmd.Context(), role); err != nil {
				return err
			}

			fmt.Fprintln(cmd.OutOrStdout(), "granted to", role)

			return nil
		},
	}
	migrate.Flags().BoolVar(&plan, "plan", false, "say what would be done")
	migrate.Flags().StringVar(&role, "grant-to", "", "the database role of API and worker")
	migrate.MarkFlagsMutuallyExclusive("plan", "grant-to")

	return migrate
}
