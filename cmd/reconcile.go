package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rihla/gateways"
	"rihla/gateways/drivers"
	"rihla/internal/clock"
	"rihla/internal/config"
	"rihla/internal/telemetry"
	"rihla/models"
	"rihla/worker/reconcile"
	"rihla/workflows"
)

const (
	reconcileBack = 30 * 24 * time.Hour
	reconcileRate = 5
)

var errNotWhole = errors.New("not every question was answered, or not every workflow started: run the command again")

// reconcileOptions are the flags.
type reconcileOptions struct {
	since, out string
	gateways   []string
	back       time.Duration
	rate       float64
	dryRun     bool
	close      bool
}

func newReconcile() *cobra.Command {
	var o reconcileOptions

	c := &cobra.Command{
		Use:   "reconcile --since TIME",
		Short: "After a restore: ask the gateways about everything since a moment, and bring the books to what happened",
		Long: "For books that were restored to an earlier moment, or whose Temporal was lost (docs/restore.md). It asks each gateway\n" +
			"about every attempt and refund whose state may have changed since, lists what the gateway has and the books do not, and\n" +
			"hands the answers to the same intake as webhooks. It starts the workflows of all that is open, and prints what it asked,\n" +
			"what it changed and what only a statement can tell. Running it again changes nothing.\n\n" +
			"TIME is the restored moment, as 2026-11-29T10:15:00+03:00, or how long ago it was, as 2h.\n" +
			"The exit status is 1 when a gateway or Temporal did not answer.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	c.Flags().StringVar(&o.since, "since", "", "the moment to which the books were restored (required)")
	c.Flags().DurationVar(&o.back, "back", reconcileBack, "how long before it an attempt may have been opened that is asked about")
	c.Flags().StringSliceVar(&o.gateways, "gateway", nil, "ask these merchant accounts only")
	c.Flags().Float64Var(&o.rate, "rate", reconcileRate, "questions a second to each account; half of its _RATE at most")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "ask, print, and change nothing")
	c.Flags().BoolVar(&o.close, "close-unknown", false, "close checkouts that can be paid and have no attempt in the books")
	c.Flags().StringVar(&o.out, "out", "", "write the report to this file, as JSON")

	return c
}

// sinceOf reads --since.
func sinceOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, errors.New("--since is missing: the moment to which the books were restored, as 2026-11-29T10:15:00+03:00 or 2h")
	}

	since, err := time.Parse(time.RFC3339, text)
	if err != nil {
		ago, errAgo := time.ParseDuration(text)
		if errAgo != nil || ago < 0 {
			return since, fmt.Errorf("--since %q is neither a time with its zone, as 2026-11-29T10:15:00+03:00, nor how long ago, as 2h", text)
		}

		since = now.Add(-ago)
	}

	if since.After(now) {
		return since, fmt.Errorf("--since %s is in the future", since.Format(time.RFC3339))
	}

	return since, nil
}

func (o *reconcileOptions) check(cfg config.Config) error {
	var errs []error

	if o.rate <= 0 {
		errs = append(errs, errors.New("--rate must be more than 0"))
	}

	if o.back < 0 {
		errs = append(errs, errors.New("--back must not be negative"))
	}

	for _, name := range o.gateways {
		if accounts := cfg.Gateways.Accounts(); !slices.Contains(accounts, models.MerchantAccount(name)) {
			errs = append(errs, fmt.Errorf("--gateway %q is no configured account: %s", name, accountNames(accounts)))
		}
	}

	return errors.Join(errs...)
}

func accountNames(accounts []models.MerchantAccount) string {
	names := make([]string, len(accounts))
	for i, a := range accounts {
		names[i] = string(a)
	}

	return strings.Join(names, ", ")
}

func (o *reconcileOptions) run(cmd *cobra.Command) error {
	since, err := sinceOf(o.since, clock.Now())
	if err != nil {
		return err
	}

	cfg, err := loadServing(config.Config.RequireWorker)
	if err != nil {
		return err
	}

	if err := o.check(cfg); err != nil {
		return err
	}

	slog.SetDefault(telemetry.NewLogger(cmd.ErrOrStderr(), cfg.App))

	report, err := o.reconcile(cmd.Context(), cfg, since)
	if report == nil {
		return err
	}

	err = errors.Join(err, report.Print(cmd.OutOrStdout()))

	if o.out != "" {
		text, errJSON := json.MarshalIndent(report, "", "  ")
		err = errors.Join(err, errJSON, os.WriteFile(o.out, append(text, '\n'), 0o600))
	}

	if err == nil && !report.Whole() {
		return errNotWhole
	}

	return err
}

func (o *reconcileOptions) reconcile(ctx context.Context, cfg config.Config, since time.Time) (*reconcile.Report, error) {
	s, err := openStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer s.Close()

	temporal, err := dialTemporal(cfg, nil)
	if err != nil {
		return nil, err
	}
	defer temporal.Close()

	accounts, err := o.accounts(cfg)
	if err != nil {
		return nil, err
	}

	one := reconcile.Reconciler{
		Store: s, Workflows: workflows.NewClient(temporal, cfg.Temporal.TaskQueue), Accounts: accounts, Now: clock.Now, Log: slog.Default(),
	}

	return one.Run(ctx, reconcile.Options{Since: since, Back: o.back, DryRun: o.dryRun, CloseUnknown: o.close})
}

// accounts opens the gateways that are asked. Their guards count apart from those of the workers, so that half of the rate is theirs.
func (o *reconcileOptions) accounts(cfg config.Config) ([]reconcile.Account, error) {
	all := make([]reconcile.Account, 0, len(cfg.Gateways.Accounts()))

	for _, name := range cfg.Gateways.Accounts() {
		if len(o.gateways) > 0 && !slices.Contains(o.gateways, string(name)) {
			continue
		}

		opened, err := drivers.Open(name, driverConfig(cfg, name))
		if err != nil {
			return nil, err
		}

		one := cfg.Gateways.For(name)
		a := reconcile.Account{
			Name: name, Driver: one.Driver, Gateway: gateways.Guarded(opened, limitsOf(one), gateways.Reports{}), Rate: o.rate,
			ChannelOf: func(m models.PaymentMethod) models.Channel {
				if name.IsBackup() {
					return name.Gateway().BackupChannel()
				}

				return cfg.Gateways.Routes().Channel(m)
			},
		}

		if one.Rate > 0 {
			a.Rate = min(o.rate, one.Rate/2) //nolint:mnd // half
		}

		for _, channel := range models.AllChannels() {
			if channel.Account() == name {
				a.Channels = append(a.Channels, channel)
			}
		}

		a.Checkouts, _ = opened.(gateways.CheckoutLister)
		a.Refunds, _ = opened.(gateways.RefundLister)
		all = append(all, a)
	}

	return all, nil
}
