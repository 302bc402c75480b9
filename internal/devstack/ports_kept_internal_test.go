package devstack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPortsAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "run"), 0o700))

	ports := openPorts(dir)
	require.Equal(t, 8090, ports.Prefer("gateway", 8090))
	require.NoError(t, ports.Keep("gateway", 21001))
	require.NoError(t, ports.Keep("api", 8080))

	again := openPorts(dir)
	require.Equal(t, 21001, again.Prefer("gateway", 8090))
	require.Equal(t, 8080, again.Prefer("api", 8080))
	require.Equal(t, 7233, again.Prefer("temporal", 7233))

	for _, spoilt := range []string{"", "{", "[]", "null", `{"gateway": "x"}`, `{"gateway": -1}`, `{"gateway": 70000}`} {
		require.NoError(t, os.WriteFile(portsFile(dir), []byte(spoilt), 0o600))
		ports = openPorts(dir)
		require.Equal(t, 8090, ports.Prefer("gateway", 8090), spoilt)
		require.NoError(t, ports.Keep("gateway", 21002), spoilt)
	}
}
