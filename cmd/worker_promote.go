package cmd

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"rihla/worker"
)

func newWorkerPromote() *cobra.Command {
	promote := takeOver(10, 5*time.Minute)
	promote.Use, promote.Short = "promote", "Have this version of the workers take over, when it replays what runs and fails nothing"
	promote.Long = "Run with the new build and its TEMPORAL_BUILD_ID, beside its workers. It replays histories (worker verify), gives the\n" +
		"version a part of the work, watches it, and makes it current. When a history does not replay, nothing is changed. When a\n" +
		"workflow fails on the version, or its task is tried again and again, the part is taken away. In both cases the exit status is 1."

	return promote
}

func newWorkerRollback() *cobra.Command {
	rollback := takeOver(0, 0)
	rollback.Use, rollback.Short = "rollback", "Have this version of the workers, the one before, take over at once, when it replays what runs"
	rollback.Long = "Run with the build to go back to and its TEMPORAL_BUILD_ID, once its workers run. It replays histories (verify)\n" +
		"and makes the version current. When a history does not replay, nothing is changed and the exit status is 1: `rihla migrate\n" +
		"--plan` and docs/upgrading.md say whether one can go back."

	return rollback
}

// takeOver makes this version current: promote and rollback, which differ in how careful they are.
func takeOver(ramp float32, watch time.Duration) *cobra.Command {
	var r replays

	c := &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ramp < 0 || ramp > 100 {
				return errors.New("--ramp is between 0 and 100")
			}

			cfg, temporal, o, err := r.verify(cmd)
			if err != nil {
				return err
			}
			defer temporal.Close()

			if cfg.Temporal.BuildID == "" {
				return errors.New("TEMPORAL_BUILD_ID is missing: without it workers have no versions")
			}

			return worker.Promote(cmd.Context(), temporal, worker.PromoteOptions{
				VerifyOptions: o, Deployment: cfg.Temporal.DeploymentName, BuildID: cfg.Temporal.BuildID, Ramp: ramp, Watch: watch,
				Report: func(format string, args ...any) { fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...) },
			})
		},
	}
	r.flags(c)
	c.Flags().Float32Var(&ramp, "ramp", ramp, "percent of the work that it gets first; 0: everything at once")
	c.Flags().DurationVar(&watch, "watch", watch, "how long it is watched with that part")

	return c
}
