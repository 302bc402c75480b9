// Command bench measures the service on a private PostgreSQL and Temporal: `go run ./bench payments` what a payment over HTTP
// costs, and other commands what its parts do, each beside a reference; `go run ./bench --help` lists them, and `all` runs them
// and writes docs/benchmarks.md.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
)

func main() { os.Exit(execute()) }

func execute() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	root := &cobra.Command{Use: "bench", Short: "Measure Rihla against itself", SilenceUsage: true}
	root.AddCommand(newPayments(), newReferenceWorker(), newWebhooks(), newWebhookReference(), newPolls(), newWaiting(),
		newReferenceStatus(), newExports(), newLists(), newGrowth(), newCalledOff(), newCluster(), newClusterUpgrade(), newAll())

	// The SDK's log is not what is read here.
	slog.SetDefault(slog.New(slog.DiscardHandler))

	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)

		return 1
	}

	return 0
}
