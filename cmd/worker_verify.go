package cmd

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"rihla/internal/config"
	"rihla/worker"
)

// errDoesNotReplay ends the command with 1; what was found is printed already.
var errDoesNotReplay = errors.New("this build cannot take on all workflows: do not start its workers")

// replays says which histories are replayed.
type replays struct {
	since time.Duration
	limit int
}

func (r *replays) flags(c *cobra.Command) {
	c.Flags().DurationVar(&r.since, "since", worker.VerifySince, "how far back workflows that have ended are replayed")
	c.Flags().IntVar(&r.limit, "limit", worker.VerifyLimit,
		"how many of one type are replayed at most, of those that run and of those that have ended")
}

// verify replays them and prints what it found.
func (r *replays) verify(cmd *cobra.Command) (config.Config, *orchestrator, worker.VerifyOptions, error) {
	var o worker.VerifyOptions

	cfg, err := loadConfig(nil)
	if err != nil {
		return cfg, nil, o, err
	}

	if r.limit < 1 {
		return cfg, nil, o, errors.New("--limit is at least 1")
	}

	temporal, err := dialTemporal(cfg, nil)
	if err != nil {
		return cfg, nil, o, err
	}

	decrypts := client.Options{}
	temporal.codec.Install(&decrypts)

	o = worker.VerifyOptions{
		Namespace: temporal.namespace, Queue: cfg.Temporal.TaskQueue, Data: decrypts.DataConverter, Failures: decrypts.FailureConverter,
		Since: time.Now().Add(-r.since), Limit: r.limit,
	}

	found, err := worker.Verify(cmd.Context(), temporal, o)
	if err == nil {
		err = printVerified(cmd.OutOrStdout(), found)
	}

	if err != nil {
		temporal.Close()
	}

	return cfg, temporal, o, err
}

func newWorkerVerify() *cobra.Command {
	var r replays

	verify := &cobra.Command{
		Use:   "verify",
		Short: "Replay the histories of running and recent workflows with this build; exit 1 if one does not replay",
		Long: "Read the histories of running workflows, and of those that ended within --since, and replay them with the workflows of\n" +
			"this build, as its workers would. Nothing is changed. The exit status is 1 when a history does not replay, when a workflow\n" +
			"of a type runs that this build does not have, or when Temporal cannot be read. It needs the worker's Temporal settings\n" +
			"and TEMPORAL_CODEC_KEYS.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, temporal, _, err := r.verify(cmd)
			if err == nil {
				temporal.Close()
			}

			return err
		},
	}
	r.flags(verify)

	return verify
}

// printVerified says what was replayed, and what of it this build cannot take on.
func printVerified(w io.Writer, v worker.Verified) error {
	var b strings.Builder

	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "Workflow\tRunning\tEnded")

	for _, t := range v.Types {
		fmt.Fprintf(table, "%s\t%d of %d\t%d of %d\n", t.Name, t.Running, t.AllRunning, t.Ended, t.AllEnded)
	}

	if err := table.Flush(); err != nil {
		return err
	}

	for _, f := range v.Failed {
		fmt.Fprintf(&b, "\n%s %s, run %s, does not replay: %v\n", f.Type, f.WorkflowID, f.RunID, f.Err)
	}

	if v.Unknown > 0 {
		fmt.Fprintf(&b, "\n%d workflows of other types are running.\n", v.Unknown)
	}

	if _, err := io.WriteString(w, b.String()); err != nil || v.OK() {
		return err
	}

	return errDoesNotReplay
}
