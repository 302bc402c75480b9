package cmd

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx": the audit has a connection of its own
	"github.com/spf13/cobra"

	"rihla/internal/audit"
	"rihla/internal/config"
)

func newAudit() *cobra.Command {
	var (
		rules bool
		how   auditOptions
	)

	audit := &cobra.Command{
		Use:   "audit",
		Short: "Recompute the books from their proofs and print every difference; exit 1 if there is any",
		Long: "Recompute every record, balance, report and state from transfers, transactions and webhook events, in one\n" +
			"read-only snapshot beside whatever runs, and print each difference on a line of its own:\n\n" +
			"  RULE: SUBJECT ID: what was expected, what was found\n\n" +
			"A rule that cannot be looked at is named, and the others are looked at all the same. The exit status is 0 when\n" +
			"the books agree, 1 when they do not, or when not all of them could be read.\n\n" +
			"With --seal, run as the owner of the tables, the balances are kept when the books agree; with --since-seal only\n" +
			"what has happened since then is looked at, and the sums of reports are held against those balances.\n\n" +
			"The newest seal of the audit log is printed as NUMBER:HASH. Kept elsewhere, and given to --log-seal later, it proves\n" +
			"that no entry before it was changed since then, not even by the owner of the tables.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rules {
				printRules(cmd.OutOrStdout())

				return nil
			}

			return runAudit(cmd, how)
		},
	}
	audit.Flags().BoolVar(&rules, "rules", false, "print the rules and what they say, and do not look")
	audit.Flags().BoolVarP(&how.verbose, "verbose", "v", false, "name the rules that hold, too")
	audit.Flags().BoolVar(&how.seal, "seal", false, "keep the balances when there is no difference")
	audit.Flags().BoolVar(&how.anew, "anew", false, "with --seal: also when nothing but the balances kept before does not agree")
	audit.Flags().BoolVar(&how.sinceSeal, "since-seal", false, "look at what has happened since the last --seal")
	audit.Flags().StringVar(&how.logSeal, "log-seal", "", "a seal of the audit log, NUMBER:HASH, that the chain must have")
	audit.MarkFlagsMutuallyExclusive("seal", "since-seal")

	return audit
}

type auditOptions struct {
	verbose, seal, anew, sinceSeal bool
	logSeal                        string
}

func printRules(w io.Writer) {
	for _, r := range audit.Rules() {
		fmt.Fprintf(w, "%-20s %s\n", r.Name, r.Says)
	}
}

func runAudit(cmd *cobra.Command, how auditOptions) error {
	var kept audit.LogSeal

	if how.logSeal != "" {
		var err error
		if kept, err = audit.ParseLogSeal(how.logSeal); err != nil {
			return fmt.Errorf("--log-seal: %w", err)
		}
	}

	cfg, err := loadConfig(config.Config.RequireDatabase)
	if err != nil {
		return err
	}

	db, err := sql.Open("pgx", cfg.Database.URL.Reveal())
	if err != nil {
		return errors.New("DATABASE_URL is not a PostgreSQL address") // the parse error would quote it, and its password
	}
	defer db.Close()

	if how.seal {
		if may, err := audit.MaySeal(cmd.Context(), db); err != nil || !may {
			return errors.Join(errors.New("balances are kept by the owner of the tables: DATABASE_URL names another role, or the database "+
				"waits for its migrations"), err)
		}
	}

	out := bufio.NewWriter(cmd.OutOrStdout())

	run := audit.Run
	if how.sinceSeal {
		run = audit.RunSince
	}

	sum, err := run(cmd.Context(), db, func(d audit.Difference) error {
		_, err := fmt.Fprintln(out, d)

		return err
	})
	if errors.Is(err, audit.ErrNoSnapshot) {
		return fmt.Errorf("%w: run rihla audit --seal first", err)
	}

	printSummary(out, sum, how.verbose)

	if err := errors.Join(err, out.Flush()); err != nil {
		return errors.Join(err, verdict(sum))
	}

	bad := errors.Join(verdict(sum), lacks(cmd, db, kept))
	if how.seal && (bad == nil || how.anew && sum.AgreesButForTheSnapshot()) {
		return seal(cmd, db)
	}

	return bad
}

// lacks is an error when a seal that was kept elsewhere is not in the chain of the audit log.
func lacks(cmd *cobra.Command, db *sql.DB, kept audit.LogSeal) error {
	if kept.Number == 0 {
		return nil
	}

	has, err := audit.HasLogSeal(cmd.Context(), db, kept)
	if err == nil && !has {
		err = fmt.Errorf("the audit log has no seal %s: its past was changed", kept)
	}

	return err
}

// seal keeps the balances of books that agree.
func seal(cmd *cobra.Command, db *sql.DB) error {
	until, accounts, err := audit.Seal(cmd.Context(), db)
	if err != nil {
		return err
	}

	fmt.Fprintf(cmd.OutOrStdout(), "sealed until %s: the balances of %d accounts\n", until.UTC().Format(time.RFC3339), accounts)

	return nil
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

	if !s.Since.IsZero() {
		fmt.Fprintf(w, "since %s: %d payments; %d rules are left to a full audit\n", s.Since.UTC().Format(time.RFC3339), s.Payments, len(s.Left))
	}

	fmt.Fprintf(w, "%d rules, %d differences, %.1f s\n", len(s.Rules)-unseen, s.Differences, s.Took.Seconds())

	if s.LogSeal.Number > 0 {
		fmt.Fprintf(w, "audit log sealed: %s\n", s.LogSeal)
	}
}
