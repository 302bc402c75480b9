// Command bench measures the service against itself: `go run ./bench payments` compares ways of running the same payment
// in one process against a private PostgreSQL and Temporal, so that only ratios matter and the machine does not; `go run ./bench
// reports` compares summaries and lists over ledgers of different sizes.
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
	root.AddCommand(newPayments(), newReports(), newExports(), newCluster())

	// The SDK's log is not what is read here.
	slog.SetDefault(slog.New(slog.DiscardHandler))

	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)

		return 1
	}

	return 0
}
