package devstack_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"rihla/internal/devstack"
	"rihla/internal/testkit"
)

// start starts a stack that is stopped and wiped at the end of the test.
func start(t *testing.T, dir string) *devstack.Stack {
	t.Helper()
	testkit.SkipShort(t)
	stack, err := devstack.Start(t.Context(), options(dir))
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		require.NoError(t, stack.Close(ctx))
		require.NoError(t, devstack.Reset(ctx, dir, nil))
	})
	return stack
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func count(t *testing.T, conn *pgx.Conn) (n int) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM kept").Scan(&n))
	return n
}

func dial(t *testing.T, address string) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: address, Logger: quiet{}})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// greetingWorkflow is payment-shaped: an update that is answered while the workflow goes on, until a signal ends it.
func greetingWorkflow(ctx workflow.Context, name string) (string, error) {
	err := workflow.SetUpdateHandler(ctx, "greeting", func(workflow.Context) (string, error) { return "marhaba " + name, nil })
	if err != nil {
		return "", err
	}
	workflow.GetSignalChannel(ctx, "end").Receive(ctx, nil)
	return "ma'a salama " + name, nil
}

func updateWithStart(t *testing.T, c client.Client, id string) string {
	t.Helper()
	handle, err := c.UpdateWithStartWorkflow(t.Context(), client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID: id, TaskQueue: "devstack", WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		}, greetingWorkflow, "Rihla"),
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateID: "first", UpdateName: "greeting", WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	require.NoError(t, err)
	var greeting string
	require.NoError(t, handle.Get(t.Context(), &greeting))
	return greeting
}

func TestStackServesAndSurvivesRestarts(t *testing.T) {
	t.Parallel()
	stack := start(t, t.TempDir())

	// Both components do what the service needs of them, at once.
	conn := connect(t, stack.DatabaseURL)
	_, err := conn.Exec(t.Context(), "CREATE EXTENSION pg_trgm; CREATE TABLE kept (x int); INSERT INTO kept VALUES (1)")
	require.NoError(t, err)
	var fsync, listen string
	var trigrams int
	require.NoError(t, conn.QueryRow(t.Context(),
		"SELECT current_setting('fsync'), current_setting('listen_addresses'), cardinality(show_trgm('رحلة'))").
		Scan(&fsync, &listen, &trigrams))
	require.Equal(t, "on", fsync)
	require.Equal(t, "127.0.0.1", listen)
	require.Positive(t, trigrams, "search must know Arabic letters")

	c := dial(t, stack.TemporalAddress)
	work := worker.New(c, "devstack", worker.Options{})
	work.RegisterWorkflow(greetingWorkflow)
	require.NoError(t, work.Start())
	t.Cleanup(work.Stop)
	require.Equal(t, "marhaba Rihla", updateWithStart(t, c, "greet"))
	attributes, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: "default"})
	require.NoError(t, err)
	require.Equal(t, enums.INDEXED_VALUE_TYPE_KEYWORD, attributes.GetCustomAttributes()["BookingId"])
	require.Equal(t, enums.INDEXED_VALUE_TYPE_BOOL, attributes.GetCustomAttributes()["NeedsReview"])
	response, err := http.Get(stack.TemporalUIURL)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)

	// Killed and started again, they are at the same address with what they had.
	stack.Postgres.Kill()
	stack.Temporal.Kill()
	require.NoError(t, stack.Postgres.Start(t.Context()))
	require.Equal(t, 1, count(t, connect(t, stack.DatabaseURL)))
	require.NoError(t, stack.Temporal.Start(t.Context()))
	require.Equal(t, "marhaba Rihla", updateWithStart(t, c, "greet"))
	require.NoError(t, c.SignalWorkflow(t.Context(), "greet", "", "end", nil))
	var goodbye string
	require.NoError(t, c.GetWorkflow(t.Context(), "greet", "").Get(t.Context(), &goodbye))
	require.Equal(t, "ma'a salama Rihla", goodbye)

	// Stopped and started likewise; a second Start does nothing.
	require.NoError(t, stack.Postgres.Stop(t.Context()))
	require.NoError(t, stack.Temporal.Stop(t.Context()))
	require.NoError(t, stack.Postgres.Start(t.Context()))
	require.NoError(t, stack.Postgres.Start(t.Context()))
	require.NoError(t, stack.Temporal.Start(t.Context()))
	require.Equal(t, 1, count(t, connect(t, stack.DatabaseURL)))
}

func TestSecondStartIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := options(dir)
	// With both components elsewhere Start only holds the directory.
	o.DatabaseURL, o.TemporalAddress = "postgres://elsewhere/rihla", "elsewhere:7233"
	first, err := devstack.Start(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, "elsewhere:7233", first.TemporalAddress)

	_, err = devstack.Start(t.Context(), o)
	var inUse *devstack.InUseError
	require.ErrorAs(t, err, &inUse)
	require.Equal(t, os.Getpid(), inUse.PID)
	require.ErrorContains(t, err, fmt.Sprintf("process %d already runs on the data directory", os.Getpid()))
	require.ErrorAs(t, devstack.Reset(t.Context(), dir, nil), &inUse)

	require.NoError(t, first.Close(t.Context()))
	second, err := devstack.Start(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, second.Close(t.Context()))
}

func TestKilledProcessLeavesNoOrphansAndNoDamage(t *testing.T) {
	t.Parallel()
	testkit.SkipShort(t)
	dir := t.TempDir()
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), envHold+"="+dir)
	holder.Stderr = os.Stderr
	out, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	url := lines.Text()
	require.True(t, lines.Scan(), url)
	address := lines.Text()

	conn := connect(t, url)
	_, err = conn.Exec(t.Context(), "CREATE TABLE kept (x int); INSERT INTO kept VALUES (1)")
	require.NoError(t, err)
	c := dial(t, address)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "kept", TaskQueue: "devstack"}, "nobody")
	require.NoError(t, err)

	require.NoError(t, holder.Process.Kill())
	_, err = io.Copy(io.Discard, out)
	require.NoError(t, err)
	require.Error(t, holder.Wait())

	stack := start(t, dir)
	require.Equal(t, 1, count(t, connect(t, stack.DatabaseURL)))
	described, err := dial(t, stack.TemporalAddress).DescribeWorkflow(t.Context(), "kept", run.GetRunID())
	require.NoError(t, err)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, described.Status)
	// The old servers are gone: had one lived on, it would still be listening.
	for _, old := range []string{strings.Split(strings.Split(url, "@")[1], "/")[0], address} {
		if old != stack.TemporalAddress && !strings.Contains(stack.DatabaseURL, old) {
			_, err := net.DialTimeout("tcp", old, time.Second)
			require.Error(t, err)
		}
	}
}

func TestPortFallsBack(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	taken := listener.Addr().(*net.TCPAddr).Port
	log, said := recorder()
	port, err := devstack.Port(t.Context(), log, taken)
	require.NoError(t, err)
	require.NotEqual(t, taken, port)
	require.Contains(t, said.String(), fmt.Sprintf("port %d is taken, using %d", taken, port))

	require.NoError(t, listener.Close())
	// A child process that another test is starting has a copy of the listener until it calls exec.
	require.Eventually(t, func() bool {
		port, err := devstack.Port(t.Context(), nil, taken)
		return err == nil && port == taken
	}, 10*time.Second, 10*time.Millisecond)
}

func TestResetKeepsProgramsAndForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]bool{ // name → is kept
		"bin/temporal": true, "notes.txt": true, "postgres/cluster/PG_VERSION": false, "temporal/temporal.db": false,
		"outbox/1.eml": false, "media/ab/cd": false, "keys/jwt.pem": false, "logs/temporal.log": false,
	}
	for name := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	require.NoError(t, devstack.Reset(t.Context(), dir, nil))
	for name, kept := range files {
		_, err := os.Stat(filepath.Join(dir, name))
		require.Equal(t, kept, err == nil, name)
	}
	require.NoError(t, devstack.Reset(t.Context(), filepath.Join(dir, "absent"), nil))
	require.NoDirExists(t, filepath.Join(dir, "absent"))
}
