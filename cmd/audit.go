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
			"It names the newest seal of the audit log. With --log-seal a seal that was noted elsewhere has to be in\n" +
			"the chain. With --log-file an exported audit log, CSV or JSON lines, is checked instead, without a database.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rules {
				printRules(cmd.OutOrStdout())

				return nil
			}

			return how.run(cmd)
		},
	}
	audit.Flags().BoolVar(&rules, "rules", false, "print the rules and what they say, and do not look")
	audit.Flags().BoolVarP(&how.verbose, "verbose", "v", false, "name the rules that hold, too")
	audit.Flags().BoolVar(&how.seal, "seal", false, "keep the balances when there is no difference")
	audit.Flags().BoolVar(&how.anew, "anew", false, "with --seal: also when nothing but the balances kept before does not agree")
	audit.Flags().BoolVar(&how.sinceSeal, "since-seal", false, "look at what has happened since the last --seal")
	audit.Flags().StringVar(&how.logSeal, "log-seal", "", "NUMBER:HASH of a seal of the audit log that has to be in its chain")
	audit.Flags().StringVar(&how.logFile, "log-file", "", "check this exported audit log, and nothing else")
	audit.Flags().BoolVar(&how.partial, "partial", false, "with --log-file: it was exported with filters, and lacks entries of its seals")
	audit.Flags().BoolVar(&how.pastWaits, "past-waits", false, "with --log-file: it was exported while entries from before there were "+
		"seals waited for theirs; those have no digest, and are not checked")
	audit.MarkFlagsMutuallyExclusive("seal", "since-seal", "log-file")

	return audit
}

type auditOptions struct {
	verbose, seal, anew, sinceSeal, partial, pastWaits bool
	logSeal, logFile                                   string
}

func (how auditOptions) run(cmd *cobra.Command) error {
	var noted audit.LogSeal

	if how.logSeal != "" {
		seal, err := audit.ParseLogSeal(how.logSeal)
		if err != nil {
			return err
		}

		noted = seal
	}

	if how.logFile != "" {
		return checkLogFile(cmd.OutOrStdout(), how.logFile, audit.LogFileOptions{
			Partial: how.partial, PastWaits: how.pastWaits, Seal: noted,
		})
	}

	return runAudit(cmd, how, noted)
}

func printRules(w io.Writer) {
	for _, r := range audit.Rules() {
		fmt.Fprintf(w, "%-20s %s\n", r.Name, r.Says)
	}
}

func runAudit(cmd *cobra.Command, how auditOptions, noted audit.LogSeal) error {
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

	bad := errors.Join(verdict(sum), requireLogSeal(cmd.Context(), db, noted))
	if how.seal && (bad == nil || how.anew && sum.AgreesButForTheSnapshot()) {
		return seal(cmd, db)
	}

	return bad
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
		fmt.Fprintf(w, "newest seal of the audit log: %s\n", s.LogSeal)
	}
}
