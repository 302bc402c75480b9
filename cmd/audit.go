package cmd

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"io"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx": the audit has a connection of its own
	"github.com/spf13/cobra"

	"rihla/internal/audit"
	"rihla/internal/config"
)

func newAudit() *cobra.Command {
	var rules, verbose bool

	audit := &cobra.Command{
		Use:   "audit",
		Short: "Recompute the books from their proofs and print every difference; exit 1 if there is any",
		Long: "Recompute every record, balance, report and state from transfers, transactions and webhook events, in one\n" +
			"read-only snapshot beside whatever runs, and print each difference on a line of its own:\n\n" +
			"  RULE: SUBJECT ID: what was expected, what was found\n\n" +
			"A rule that cannot be looked at is named, and the others are looked at all the same. The exit status is 0 when\n" +
			"the books agree, 1 when they do not, or when not all of them could be read.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rules {
				printRules(cmd.OutOrStdout())

				return nil
			}

			return runAudit(cmd, verbose)
		},
	}
	audit.Flags().BoolVar(&rules, "rules", false, "print the rules and what they say, and do not look")
	audit.Flags().BoolVarP(&verbose, "verbose", "v", false, "name the rules that hold, too")

	return audit
}

func printRules(w io.Writer) {
	for _, r := range audit.Rules() {
		fmt.Fprintf(w, "%-20s %s\n", r.Name, r.Says)
	}
}

func runAudit(cmd *cobra.Command, verbose bool) error {
	cfg, err := loadConfig(config.Config.RequireDatabase)
	if err != nil {
		return err
	}

	db, err := sql.Open("pgx", cfg.Database.URL.Reveal())
	if err != nil {
		return errors.New("DATABASE_URL is not a PostgreSQL address") // the parse error would quote it, and its password
	}
	defer db.Close()

	out := bufio.NewWriter(cmd.OutOrStdout())

	sum, err := audit.Run(cmd.Context(), db, func(d audit.Difference) error {
		_, err := fmt.Fprintln(out, d)

		return err
	})
	printSummary(out, sum, verbose)

	if err != nil {
		return errors.Join(err, out.Flush(), verdict(sum))
	}

	if err := out.Flush(); err != nil {
		return err
	}

	return verdict(sum)
}

// verdict is an error unless every rule was looked at and holds.
func verdict(sum audit.Summary) error {
	var errs []error

	for _, u := range sum.Unseen {
		errs = append(errs, u)
	}

	if sum.Differences > 0 {
		errs = append(errs, fmt.Errorf("audit found %d differences", sum.Differences))
	}

	return errors.Join(errs...)
}

func printSummary(w io.Writer, s audit.Summary, verbose bool) {
	if s.Differences > 0 {
		fmt.Fprintln(w)
	}

	for _, r := range s.Rules {
		if verbose || r.Differences > 0 {
			fmt.Fprintf(w, "%8d  %-20s %s\n", r.Differences, r.Name, r.Says)
		}
	}

	unseen := 0

	for _, u := range s.Unseen {
		unseen += len(u.Rules)

		fmt.Fprintf(w, "  unseen  %s\n", u.Names())
	}

	fmt.Fprintf(w, "%d rules, %d differences, %.1f s\n", len(s.Rules)-unseen, s.Differences, s.Took.Seconds())
}
