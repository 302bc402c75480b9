package rig_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/rig"
	"rihla/internal/config"
)

// TestSettingsAreEnough: API and worker take the settings of the rig, with the limits and without.
func TestSettingsAreEnough(t *testing.T) {
	t.Parallel()

	env, err := rig.Settings(t.TempDir(), "postgres://127.0.0.1/rihla", "127.0.0.1:1")
	require.NoError(t, err)

	limited, err := config.Load(env)
	require.NoError(t, err)
	require.NoError(t, limited.RequireAPI())
	require.NoError(t, limited.RequireWorker())
	for name, value := range rig.Unlimited() {
		require.Equal(t, "0", value, name)
		env[name] = value
	}

	_, err = config.Load(env)
	require.NoError(t, err)

	for _, limit := range reflect.VisibleFields(reflect.TypeFor[config.RateLimits]()) {
		if name := limit.Tag.Get("env"); strings.HasPrefix(name, "RATE_LIMIT_") {
			require.Contains(t, env, name, "a limit that the rig does not know")
		}
	}
}
