package compose_test

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"
	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"rihla/internal/codec"
	"rihla/internal/config"
	"rihla/internal/devstack"
)

// ourImage is the one that is built from the source tree.
const ourImage = "rihla:compose"

// load reads docker-compose.yml as `docker compose --profile codec up` does, with encrypted histories.
func load(t *testing.T) *types.Project {
	t.Helper()

	root, err := devstack.ModuleRoot()
	require.NoError(t, err)

	key, err := codec.NewKey("compose")
	require.NoError(t, err)

	options, err := cli.NewProjectOptions([]string{filepath.Join(root, "docker-compose.yml")}, cli.WithName("rihla"), cli.WithProfiles([]string{"codec"}),
		cli.WithEnv([]string{"TEMPORAL_CODEC_KEYS=" + key, "TEMPORAL_CODEC_TOKEN=compose-codec-token-5d0c9f1e7a3b"}))
	require.NoError(t, err)

	project, err := options.LoadProject(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	require.NotEmpty(t, project.Services)

	return project
}

func isOurs(s types.ServiceConfig) bool { return s.Image == ourImage }

// endsByItself tells a service that does one thing and ends from one that serves.
func endsByItself(s types.ServiceConfig) bool { return s.Restart == "no" }

// A tag names one release, patch version and all, for people; the digest is what is pulled.
var pinnedImage = regexp.MustCompile(`^[a-z0-9./-]+:v?\d+\.\d+(\.\d+)?(-[a-z]+)?@sha256:[0-9a-f]{64}$`)

func TestEveryImageIsPinnedAndOursIsBuiltOnce(t *testing.T) {
	t.Parallel()

	built := 0

	for name, s := range load(t).Services {
		if s.Build != nil {
			built++
		}

		if isOurs(s) {
			require.True(t, s.Build != nil || s.PullPolicy == types.PullPolicyNever, "%s would be looked for in a registry", name)

			continue
		}

		require.Regexp(t, pinnedImage, s.Image, name)
		require.NotContains(t, s.Image, "auto-setup", "deprecated")
	}

	require.Equal(t, 1, built)
}

func TestNoServiceIsRoot(t *testing.T) {
	t.Parallel()

	for name, s := range load(t).Services {
		require.False(t, s.Privileged, name)
		require.NotContains(t, []string{"root", "0", "0:0"}, strings.SplitN(s.User, ":", 2)[0], name)

		// Our image and Temporal's have a user of their own; the others begin as root unless the file names a user.
		if !isOurs(s) && name != "temporal" {
			require.NotEmpty(t, s.User, name)
		}
	}
}

func TestEveryServiceTellsThatItIsWell(t *testing.T) {
	t.Parallel()

	project := load(t)

	for name, s := range project.Services {
		if endsByItself(s) {
			require.Nil(t, s.HealthCheck, name)
		} else {
			require.NotNil(t, s.HealthCheck, name)
			require.NotEmpty(t, s.HealthCheck.Test, name)
			require.Equal(t, "CMD", s.HealthCheck.Test[0], "%s: our image has no shell", name)
		}

		for on, how := range s.DependsOn {
			want := types.ServiceConditionHealthy
			if endsByItself(project.Services[on]) {
				want = types.ServiceConditionCompletedSuccessfully
			}

			require.Equal(t, want, how.Condition, "%s on %s", name, on)
		}
	}
}

// TestEveryVariableIsKnown: a name that is misspelt is a setting that silently does nothing.
func TestEveryVariableIsKnown(t *testing.T) {
	t.Parallel()

	fields, err := env.GetFieldParams(&config.Config{})
	require.NoError(t, err)

	for name, s := range load(t).Services {
		if !isOurs(s) {
			continue
		}

		for variable := range s.Environment {
			require.True(t, slices.ContainsFunc(fields, func(f env.FieldParams) bool { return f.Key == variable }), "%s: %s", name, variable)
		}
	}
}

func TestEveryFileAndVolumeIsThere(t *testing.T) {
	t.Parallel()

	project := load(t)
	require.Empty(t, project.Secrets, "a fresh clone has no files with secrets")

	for name, s := range project.Services {
		for _, v := range s.Volumes {
			require.Equal(t, types.VolumeTypeVolume, v.Type, name)
			require.Contains(t, project.Volumes, v.Source, name)

			if isOurs(s) {
				require.Equal(t, "/data", v.Target, "%s: the one folder of the image that its user may write to", name)
			}
		}

		for _, c := range s.Configs {
			require.NotEmpty(t, project.Configs[c.Source].Content, name)
		}

		for _, p := range s.Ports {
			require.Equal(t, "127.0.0.1", p.HostIP, "%s: everything here has published secrets", name)
		}
	}
}
