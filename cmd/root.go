// Package cmd holds the commands of the rihla binary and wires the packages together with plain constructors.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"rihla/internal/config"
	"rihla/internal/telemetry"
)

// Execute runs the command line and returns the exit code. SIGINT and SIGTERM end a running command cleanly.
func Execute(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)

	err := root.ExecuteContext(ctx)
	if err == nil || (errors.Is(err, context.Canceled) && ctx.Err() != nil) {
		return 0
	}

	fmt.Fprintln(stderr, "rihla:", err)

	return 1
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "rihla",
		Short:         "Payments and provider backend of a travel-booking platform",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newAPI(), newWorker(), newGateway(), newMigrate(), newUser(), newOpenAPI(), newAudit(), newArchive(), newCodec(),
		newHealthcheck(), newSigningKey(), newVersion())
	root.AddCommand(trialCommands()...)

	return root
}

// loadConfig reads the environment and checks it with require, which may be nil.
func loadConfig(require func(config.Config) error) (config.Config, error) {
	return loadFrom(os.Stderr, config.OSEnviron(), require)
}

// loadServing is loadConfig for API and worker, which also need Temporal.
func loadServing(require func(config.Config) error) (config.Config, error) {
	return loadServingFrom(os.Stderr, config.OSEnviron(), require)
}

func loadServingFrom(w io.Writer, environ map[string]string, require func(config.Config) error) (config.Config, error) {
	return loadFrom(w, environ, func(cfg config.Config) error {
		_, err := temporalOptions(cfg, lookup(environ))

		return config.Join(require(cfg), checkDrivers(cfg), cfg.CheckForeign(environ), err)
	})
}

// loadFrom names everything that is wrong with the settings in one error, before anything is connected to.
func loadFrom(w io.Writer, environ map[string]string, require func(config.Config) error) (config.Config, error) {
	cfg, err := config.Load(environ)
	warnUnknown(w, cfg, environ)

	if require != nil {
		err = config.Join(err, require(cfg))
	}

	return cfg, err
}

// warnUnknown names variables that nothing reads and that look like ours, ahead of complaints about those that are missing.
func warnUnknown(w io.Writer, cfg config.Config, environ map[string]string) {
	unknown := config.Unknown(environ)
	if len(unknown) == 0 {
		return
	}

	log := telemetry.NewLogger(w, cfg.App)

	for _, v := range unknown {
		attrs := []any{"variable", v.Name}
		if v.Meant != "" {
			attrs = append(attrs, "meant", v.Meant)
		}

		log.Warn("an environment variable is not known and has no effect", attrs...)
	}
}
