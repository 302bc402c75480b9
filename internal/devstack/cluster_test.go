package devstack

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestClusterSettings(t *testing.T) {
	t.Parallel()

	ports, err := freeNodePorts(t.Context())
	require.NoError(t, err)

	for _, port := range []int{ports.frontendGossip, ports.historyGossip, ports.matchingGossip, ports.workerGossip} {
		require.Less(t, port, 1<<15, "the gossip between nodes has 15 bits for a port")
	}

	text, err := clusterSettings(ports, &Postgres{port: 5432, password: "secret"}, "/limits.yaml")
	require.NoError(t, err)

	var settings struct {
		Persistence struct {
			Datastores map[string]struct{ SQL map[string]any }
		}
		Services map[string]struct{ RPC map[string]any }
	}

	require.NoError(t, yaml.Unmarshal(text, &settings))
	require.Equal(t, clusterVisibility, settings.Persistence.Datastores["visibility"].SQL["databaseName"])
	require.Equal(t, "secret", settings.Persistence.Datastores["visibility"].SQL["password"])
	require.Equal(t, ports.historyGossip, settings.Services["history"].RPC["membershipPort"])
	require.Len(t, settings.Services, 4)

	var limits map[string]any

	require.NoError(t, yaml.Unmarshal([]byte(clusterLimits()), &limits))
	require.Len(t, limits, len(dynamicConfig))
}

// The balancer goes on with the node that is left.
func TestBalancer(t *testing.T) {
	t.Parallel()

	node := func(name string) net.Listener {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })

		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}

				_, _ = io.WriteString(c, name)
				_ = c.Close()
			}
		}()

		return l
	}

	first, second := node("first"), node("second")
	b, err := startBalancer(t.Context(), []string{first.Addr().String(), second.Addr().String()})
	require.NoError(t, err)
	t.Cleanup(b.close)

	ask := func() string {
		c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp4", b.address())
		require.NoError(t, err)
		defer c.Close()

		text, err := io.ReadAll(c)
		require.NoError(t, err)

		return string(text)
	}

	require.ElementsMatch(t, []string{"first", "second"}, []string{ask(), ask()})
	require.NoError(t, first.Close())
	require.Equal(t, []string{"second", "second"}, []string{ask(), ask()})
}
