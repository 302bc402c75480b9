package devstack

import (
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

	first, second := listeningNode(t, "first"), listeningNode(t, "second")

	both := balanced(t, first, second)
	require.ElementsMatch(t, []string{"first", "second"}, []string{both(), both()})

	left := balanced(t, refusingAddress(t, second), second)
	require.Equal(t, []string{"second", "second"}, []string{left(), left()})
}

// listeningNode gives each connection its name and ends it. Result: its address.
func listeningNode(t *testing.T, name string) string {
	t.Helper()

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

	return l.Addr().String()
}

// refusingAddress is one at which connections are refused, from now to the end of the test: a connection goes out from its port.
// That of a listener that was closed would not do: a child process which another test is starting has a copy of the listener
// until it calls exec, and the system lets connections in for that long.
func refusingAddress(t *testing.T, server string) string {
	t.Helper()

	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp4", server)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })

	return c.LocalAddr().String()
}

// balanced is a balancer in front of the nodes. ask is what one connection through it gets.
func balanced(t *testing.T, nodes ...string) (ask func() string) {
	t.Helper()

	b, err := startBalancer(t.Context(), nodes)
	require.NoError(t, err)
	t.Cleanup(b.close)

	return func() string {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp4", b.address())
		require.NoError(t, err)

		defer c.Close()

		text, err := io.ReadAll(c)
		require.NoError(t, err)

		return string(text)
	}
}
