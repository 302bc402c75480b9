package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"rihla/api"
	"rihla/internal/telemetry"
	"rihla/migrations"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the API and what the binary was built from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			doc, err := api.Document()
			if err != nil {
				return err
			}

			fmt.Fprintf(cmd.OutOrStdout(), "rihla %s (%s, %s, %s/%s)\n", doc.Info.Version, commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)

			return nil
		},
	}
}

// newMetrics are the figures of a process, with what it is built from.
func newMetrics(registry *prometheus.Registry) (*telemetry.Metrics, error) {
	all, err := migrations.Releases()
	if err != nil {
		return nil, err
	}

	m := telemetry.NewMetrics(registry)
	m.Built(all[len(all)-1].Version, strings.TrimPrefix(commit(), "commit "))

	return m, nil
}

// commit is what the Go toolchain has noted of the source: nothing when it was built outside of a repository.
func commit() string {
	const short = 12

	build, _ := debug.ReadBuildInfo()
	if build == nil {
		return "commit unknown"
	}

	revision, modified := "", ""

	for _, setting := range build.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value[:min(short, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			modified = ", modified"
		}
	}

	if revision == "" {
		return "commit unknown"
	}

	return "commit " + revision + modified
}
