package cmd

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"rihla/internal/config"
	"rihla/internal/store/db"
)

// archiveYears is how long months stay in the database when the operator does not say otherwise.
const archiveYears = 10

func newArchive() *cobra.Command {
	var (
		before, dir string
		years       int
		keep        bool
	)

	archive := &cobra.Command{
		Use:   "archive --before YYYY-MM --dir DIR [--retention-years N] [--keep]",
		Short: "Write months of trails and of the audit log to files, and take them out of the database",
		Long: "Write the months before the named one of payments' trails of states and of the audit log to compressed files, each with a\n" +
			"manifest beside it (rows, SHA-256), read the files back, and take these months out of the database. What a month had stays\n" +
			"behind in archived_months, by which the audit goes. Run it as the owner of the tables. Ended at any moment, it is run again.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			month, err := time.Parse("2006-01", before)
			if err != nil {
				return fmt.Errorf("--before is a month like 2027-01, not %q", before)
			}

			if dir == "" {
				return errors.New("--dir is missing: where the files are to be written")
			}

			if years < 0 {
				return fmt.Errorf("--retention-years is a number of years, not %d", years)
			}

			cfg, err := loadConfig(config.Config.RequireDatabase)
			if err != nil {
				return err
			}

			s, err := openStore(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer s.Close()

			now := time.Now().UTC()

			archived, err := s.DB.Archive(cmd.Context(), db.ArchiveOptions{
				Dir: dir, Before: month, Now: now, Retention: now.Sub(now.AddDate(-years, 0, 0)), Keep: keep,
			})
			for _, m := range archived {
				fmt.Fprintf(cmd.OutOrStdout(), "archived %s: %d rows, SHA-256 %s\n", m.File, m.Rows, m.SHA256)
			}

			if err == nil && len(archived) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing to archive")
			}

			return err
		},
	}
	archive.Flags().StringVar(&before, "before", "", "the first month that stays, YYYY-MM (required)")
	archive.Flags().StringVar(&dir, "dir", "", "the directory for the files; it must be there (required)")
	archive.Flags().IntVar(&years, "retention-years", archiveYears, "for how many years months stay in the database")
	archive.Flags().BoolVar(&keep, "keep", false, "leave the rows in the database, in tables of their own")

	return archive
}
