package compose_test

import (
	"database/sql"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/compose-spec/compose-go/v2/types"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/internal/devstack"
	"rihla/internal/testkit"
)

// network stands for Compose and its network: the settings of each service of the file apply to 127.0.0.1, at a port of its own.
type network struct {
	t       *testing.T
	project *types.Project
	here    *strings.Replacer // addresses of the file into those of this machine
	api     string            // host:port
	owner   string            // URL of the database
	volumes string            // a folder with one folder per volume
	started map[string]bool
}

func newNetwork(t *testing.T) *network {
	t.Helper()

	// PostgreSQL alone: Temporal runs as the file says.
	stack := testkit.Stack(t, devstack.Options{TemporalAddress: testkit.Temporal(t)})
	database, err := url.Parse(stack.DatabaseURL)
	require.NoError(t, err)

	n := &network{
		t: t, project: load(t), api: free(t), owner: stack.DatabaseURL, volumes: t.TempDir(),
		started: map[string]bool{"postgres": true, "redis": true, "mailpit": true}, // none of them is a program of ours
	}
	temporal, sandbox, codec := free(t), free(t), free(t)
	_, temporalPort, _ := strings.Cut(temporal, ":")
	_, uiPort, _ := strings.Cut(free(t), ":")
	n.here = strings.NewReplacer(
		"postgres://rihla:rihla@postgres:5432/rihla?sslmode=disable", stack.DatabaseURL, "postgres:5432", database.Host,
		"temporal:7233", temporal, "127.0.0.1:7233", temporal, "--ip=0.0.0.0", "--port="+temporalPort,
		"--ui-ip=0.0.0.0", "--ui-ip=127.0.0.1", "--ui-port=8233", "--ui-port="+uiPort,
		"sandbox:8090", sandbox, "0.0.0.0:8090", sandbox, "127.0.0.1:8090", sandbox, "0.0.0.0:8234", codec, "127.0.0.1:8234", codec,
		"api:8080", n.api, "0.0.0.0:8080", n.api, "127.0.0.1:8080", n.api, "127.0.0.1:9090", free(t),
		"redis:6379", miniredis.RunT(t).Addr(), "mailpit:1025", free(t),
	)

	db, err := sql.Open("pgx", stack.DatabaseURL)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), n.project.Configs["service_role"].Content)
	require.NoError(t, err)
	require.NoError(t, db.Close())

	return n
}

func free(t *testing.T) string {
	t.Helper()

	port, err := devstack.Port(t.Context(), nil, devstack.AnyPort)
	require.NoError(t, err)

	return "127.0.0.1:" + strconv.Itoa(port)
}

// start runs the service and all that it needs, in the order that the file asks for, and returns once it is well or has ended.
func (n *network) start(name string) {
	n.t.Helper()

	if n.started[name] {
		return
	}

	n.started[name] = true
	s := n.project.Services[name]

	for on := range s.DependsOn {
		n.start(on)
	}

	if endsByItself(s) {
		n.complete(name, s)

		return
	}

	p := harness.NewProgram(n.t, name, n.program(s), n.arguments(s), n.environment(s), func() bool { return n.isWell(s) })
	p.Start()
}

// complete runs a service that ends by itself, as often as a restarted project would.
func (n *network) complete(name string, s types.ServiceConfig) {
	n.t.Helper()

	for range 2 {
		out, err := n.command(s, n.arguments(s)).CombinedOutput()
		require.NoError(n.t, err, "%s: %s", name, out)
	}
}

// isWell runs the service's own check.
func (n *network) isWell(s types.ServiceConfig) bool {
	return n.command(s, n.replaced(s, s.HealthCheck.Test[2:])).Run() == nil
}

func (n *network) command(s types.ServiceConfig, args []string) *exec.Cmd {
	c := exec.CommandContext(n.t.Context(), n.program(s), args...)

	for name, value := range n.environment(s) {
		c.Env = append(c.Env, name+"="+value)
	}

	return c
}

// program is what the image has: ours, or Temporal's command line of the pinned version.
func (n *network) program(s types.ServiceConfig) string {
	n.t.Helper()

	if isOurs(s) {
		return harness.Binary(n.t)
	}

	require.True(n.t, strings.HasPrefix(s.Image, "temporalio/temporal:"), s.Image)

	if installed, err := exec.LookPath("temporal"); err == nil {
		return installed
	}

	root, err := devstack.ModuleRoot()
	require.NoError(n.t, err)

	return filepath.Join(root, devstack.DefaultDataDir, "bin", "temporal")
}

func (n *network) arguments(s types.ServiceConfig) []string { return n.replaced(s, s.Command) }

func (n *network) environment(s types.ServiceConfig) map[string]string {
	env := map[string]string{"DATA_DIR": "/data", "HOME": n.volumes} // as the image sets it

	for name, value := range s.Environment {
		if value != nil {
			env[name] = *value
		}
	}

	for name, value := range env {
		env[name] = n.replaced(s, []string{value})[0]
	}

	return env
}

// replaced are the texts with this machine's addresses, and with the folders of the service's volumes.
func (n *network) replaced(s types.ServiceConfig, texts []string) []string {
	pairs := make([]string, 0, 6*len(s.Volumes))

	for _, v := range s.Volumes {
		dir := filepath.Join(n.volumes, v.Source)
		require.NoError(n.t, os.MkdirAll(dir, 0o700))

		pairs = append(pairs, "file://"+v.Target, "file://"+dir, "="+v.Target, "="+dir, v.Target+"/", dir+"/")
	}

	scratch := filepath.Join(n.volumes, "none", s.Name)
	out := make([]string, 0, len(texts))

	for _, text := range texts {
		text = strings.NewReplacer(pairs...).Replace(n.here.Replace(text))
		if text == "/data" {
			if text = scratch; len(s.Volumes) > 0 {
				text = filepath.Join(n.volumes, s.Volumes[0].Source)
			}
		}

		out = append(out, text)
	}

	return out
}
