// Command chaos breaks the running service, again and again, and looks for what must not be:
//
//	go run ./chaos --seed 7 --schedules 100
//
// Every schedule follows from the seed and its number: customers, staff and forgers at work while processes are killed and
// the gateway misbehaves. After each, everything has to come to rest and every invariant to hold (docs/reliability.md).
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"rihla/chaos/env"
	"rihla/gateways/drivers"
	"rihla/gateways/simulator"
)

func main() { os.Exit(execute()) }

func execute() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	slog.SetDefault(slog.New(slog.DiscardHandler)) // the SDK's log is not what is read here

	if err := newChaos().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)

		return 1
	}

	return 0
}

func newChaos() *cobra.Command {
	o := options{schedule: -1}

	var list bool

	c := &cobra.Command{
		Use:   "chaos",
		Short: "Kill and cut everything while people book, pay and refund; then look for what must not be",
		Args:  cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.seed == 0 {
				o.seed = uint64(rand.Uint32()) //nolint:gosec // it is printed
			}

			if _, err := simulator.Of(o.driver); err != nil {
				return err
			}

			if o.environments < 1 || o.perEnvironment < 1 {
				return errors.New("--environments and --per-environment are at least 1")
			}

			if list {
				return printSchedules(cmd, o)
			}

			return run(cmd.Context(), cmd.OutOrStdout(), o)
		},
	}
	f := c.Flags()
	f.Uint64Var(&o.seed, "seed", 0, "what all schedules follow from; 0: a new one, which is printed")
	f.IntVar(&o.schedules, "schedules", 20, "how many schedules")
	f.IntVar(&o.from, "from", 0, "the number of the first one; what meets in an environment depends on it")
	f.IntVar(&o.schedule, "schedule", -1, "only the schedule with this number; the number of schedules repeats it")
	f.IntVar(&o.minutes, "minutes", 0, "begin no schedule after so many minutes; 0: run them all")
	f.IntVar(&o.perEnvironment, "per-environment", 10,
		"schedules before everything is thrown away and built anew; part of what a schedule's number means")
	f.IntVar(&o.environments, "environments", 1, "environments side by side; one keeps a core half busy")
	f.BoolVar(&o.goOn, "go-on", false, "when something was found, go on with the next schedule in a new environment; the exit code stays 1")
	f.BoolVar(&o.keep, "keep", false, "keep data and logs of an environment in which something was found, and show where")
	f.BoolVar(&o.verbose, "verbose", false, "print the trail of every schedule")
	f.BoolVar(&o.backup, "backup", false, "give gateway_a a second merchant account, which takes what the first never heard of")
	f.StringVar(&o.driver, "driver", drivers.Sandbox, "of the gateways: the simulator of its company is served")
	f.BoolVar(&o.cluster, "cluster", false, "run Temporal as a cluster of two nodes on PostgreSQL; its server is built the first time")
	f.BoolVar(&o.upgrade, "upgrade", false, "begin with the last release, and replace processes by this version and back, in any order")
	f.StringVar(&o.release, "release", "", "the commit of the last release; by default that of migrations/releases.yml")
	f.StringVar(&o.migration, "migration", "", "a file of SQL that is run after the migrations: whether the last release goes on with it")
	f.BoolVar(&list, "list", false, "print the schedules and run none")

	return c
}

func printSchedules(cmd *cobra.Command, o options) error {
	company, err := env.CompanyOf(o.driver)
	if err != nil {
		return err
	}

	for i := range o.schedules {
		n := o.from + i
		if o.schedule >= 0 {
			n = o.schedule
		}

		if _, err := fmt.Fprintln(cmd.OutOrStdout(), o.scheduled(company, n)); err != nil {
			return err
		}

		if o.schedule >= 0 {
			break
		}
	}

	return nil
}

// options are what the command line says.
type options struct {
	seed           uint64
	schedules      int
	from           int
	schedule       int // -1: all of them
	minutes        int
	perEnvironment int
	environments   int
	goOn           bool
	keep           bool
	cluster        bool
	backup         bool
	driver         string
	verbose        bool
	upgrade        bool
	release        string
	migration      string
}

func (o options) over(began time.Time) bool {
	return o.minutes > 0 && time.Since(began) > time.Duration(o.minutes)*time.Minute
}
