package cmd

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
)

func TestSmallCommands(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{[]string{"version"}, 0, "rihla 1.", ""},
		{[]string{"completion", "bash"}, 0, "__start_rihla", ""},
		{[]string{"__complete", "user", "create", "--role", "SUPER"}, 0, "SUPER_ADMIN", ""},
		{[]string{"__complete", "user", ""}, 0, "list", ""},
		{[]string{"user", "list", "--role", "NOSUCH"}, 1, "", "NOSUCH"},
		{[]string{"user", "nosuch"}, 1, "", "unknown command"},
		{[]string{"user"}, 1, "", "user needs"},
		{[]string{"archive", "--before", "2027-13", "--dir", "."}, 1, "", "--before is a month"},
		{[]string{"archive", "--before", "2027-01"}, 1, "", "--dir is missing"},
		{[]string{"archive", "--before", "2027-01", "--dir", ".", "--retention-years", "-1"}, 1, "", "--retention-years"},
		{[]string{"nosuch"}, 1, "", "unknown command"},
	} {
		var out, err bytes.Buffer

		require.Equal(t, tt.code, Execute(tt.args, &out, &err), "%v: %s", tt.args, err.String())
		require.Contains(t, out.String(), tt.stdout)
		require.Contains(t, err.String(), tt.stderr)
	}
}

func TestMisspeltVariablesAreWarnedAbout(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer

	warnUnknown(&log, config.Config{}, map[string]string{"DATABSE_URL": "postgres://secret", "HOME": "/root"})
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "variable=DATABSE_URL meant=DATABASE_URL")
	require.NotContains(t, log.String(), "postgres")
	require.NotContains(t, log.String(), "HOME")
}
