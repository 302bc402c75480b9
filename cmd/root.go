// Package cmd holds the commands of the rihla binary and wires the rooms together with plain constructors.
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
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newDemo(), newDev(), newAPI(), newWorker(), newSandbox(), newMigrate(), newUser(), newOpenAPI(), newAudit(),
		newSeed(), newCodec(), newHealthcheck(), newSigningKey())

	return root
}

// loadConfig reads the environment and checks it with require, which may be nil.
func loadConfig(require func(config.Config) error) (config.Config, error) {
	cfg, err := config.Load(config.OSEnviron())
	if err != nil || require == nil {
		return cfg, err
	}

	return cfg, require(cfg)
}
