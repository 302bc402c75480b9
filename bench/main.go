// Command bench measures the service on a private PostgreSQL and Temporal: `go run ./bench payments` what a payment over HTTP
// costs, `workflow` what its workflow does by itself, `reports` summaries and lists over ledgers of different sizes, `exports`
// exports beside psql, `snapshot` what an old snapshot costs, and `cluster` the whole service on a Temporal cluster.
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
	root.AddCommand(newPayments(), newWorkflow(), newReferenceWorker(), newReports(), newExports(), newCluster(), newSnapshot())

	// The SDK's log is not what is read here.
	slog.SetDefault(slog.New(slog.DiscardHandler))

	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)

		return 1
	}

	return 0
}
