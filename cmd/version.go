package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"rihla/api"
	"rihla/migrations"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the service and of its API, and what the binary was built from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			doc, err := api.Document()
			if err != nil {
				return err
			}

			version, err := release()
			if err != nil {
				return err
			}

			fmt.Fprintf(cmd.OutOrStdout(), "rihla %s (API %s, commit %s, %s, %s/%s)\n",
				version, doc.Info.Version, commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)

			return nil
		},
	}
}

// release is the version of the service.
func release() (string, error) {
	all, err := migrations.Releases()
	if err != nil {
		return "", err
	}

	return all[len(all)-1].Version, nil
}

// commit is what the Go toolchain has noted of the source: nothing when it was built outside of a repository.
func commit() string {
	const short = 12

	build, _ := debug.ReadBuildInfo()
	if build == nil {
		return "unknown"
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
		return "unknown"
	}

	return revision + modified
}
