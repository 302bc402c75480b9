package devstack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"rihla/internal/process"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// temporalPatience is how long the server may take until it answers; it needs about two seconds on an idle machine.
const temporalPatience = 60 * time.Second

const defaultNamespace = "default"

// searchAttributes are registered at every start.
var searchAttributes = []string{
	"PaymentStatus=Keyword", "Gateway=Keyword", "BookingId=Keyword", "ProviderId=Keyword", "NeedsReview=Bool",
}

// dynamicConfig lifts limits that are meant for shared servers and would throttle a load test on a private one.
var dynamicConfig = []string{
	"frontend.namespaceCount=10000", "frontend.namespaceRPS=20000", "frontend.rps=20000",
	"frontend.namespaceRPS.visibility=1000", "history.rps=20000", "matching.rps=20000",
	// At the default of 20 polls a second every new task waits for a tick of 50 ms.
	"history.transferProcessorMaxPollRPS=2000", "history.timerProcessorMaxPollRPS=2000", "history.visibilityProcessorMaxPollRPS=2000",
}

// sqlitePragmas have a database in a file wait for the disk at checkpoints only. A server that is killed loses nothing by that; a
// machine that loses power may lose the last moments.
var sqlitePragmas = []string{"journal_mode=WAL", "synchronous=NORMAL"}

// TemporalOptions says how to run a private Temporal dev server. Only DataDir is required.
type TemporalOptions struct {
	// DataDir is the directory below which its database and log are kept; created if needed.
	DataDir string
	// BinDir is where the program is looked for when PATH has none, and downloaded or built into. Default: `bin/` in DataDir.
	BinDir string
	// InMemory keeps nothing: Stop, Kill and Start give an empty server.
	InMemory bool
	// Headless leaves the web UI out.
	Headless bool
	// Port and UIPort are the preferred ports on 127.0.0.1; 0: any free one.
	Port, UIPort int
	// Namespace is what readiness is asked of. Default: `default`.
	Namespace string
	// Log receives progress; nil: it is discarded.
	Log *slog.Logger
}

// Temporal is a private Temporal dev server on 127.0.0.1. Its methods may be called from several goroutines.
type Temporal struct {
	log       *slog.Logger
	dataDir   string
	program   string
	namespace string
	// identity is a namespace that only the server of this data directory has: it distinguishes the server from another one that
	// took the port first.
	identity string
	inMemory bool
	port     int
	uiPort   int // 0: headless

	mu      sync.Mutex
	process *process.Process
}

// StartTemporal finds or builds the program, starts the server and returns once it answers. A server that an earlier, killed
// process left behind in the same directory is stopped first. Nothing that ctx does later ends the server: Stop does.
func StartTemporal(ctx context.Context, o TemporalOptions) (*Temporal, error) {
	dataDir, err := makeDataDir(o.DataDir)
	if err != nil {
		return nil, err
	}
	t := &Temporal{
		log: orDiscard(o.Log), dataDir: dataDir, namespace: o.Namespace, identity: temporalIdentity(dataDir), inMemory: o.InMemory,
	}
	if t.namespace == "" {
		t.namespace = defaultNamespace
	}
	binDir := o.BinDir
	if binDir == "" {
		binDir = filepath.Join(dataDir, "bin")
	}
	if binDir, err = filepath.Abs(binDir); err != nil {
		return nil, err
	}
	if t.program, err = (temporalBinary{binDir: binDir, log: t.log, releases: releasesFrom(), sums: releaseSums}).path(ctx); err != nil {
		return nil, err
	}
	if err := stopStaleTemporal(ctx, t.log, dataDir); err != nil {
		return nil, err
	}
	for range 3 { // a port found free may be gone a moment later
		if t.port, err = Port(ctx, t.log, o.Port); err != nil {
			return nil, err
		}
		if !o.Headless {
			if t.uiPort, err = Port(ctx, t.log, o.UIPort); err != nil {
				return nil, err
			}
		}
		if err = t.Start(ctx); !errors.Is(err, errPortTaken) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Address is the gRPC address, host:port; it stays the same through Stop, Kill and Start.
func (t *Temporal) Address() string { return net.JoinHostPort(loopback, strconv.Itoa(t.port)) }

// UIURL is the address of the web UI, "" when headless.
func (t *Temporal) UIURL() string {
	if t.uiPort == 0 {
		return ""
	}
	return "http://" + net.JoinHostPort(loopback, strconv.Itoa(t.uiPort))
}

// PID is the id of the server's process, 0 when it does not run.
func (t *Temporal) PID() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return pidOf(t.process)
}

func (t *Temporal) logFile() string { return filepath.Join(t.dataDir, "logs", "temporal.log") }

// Start starts a server that was stopped or killed, on the same ports and database, and returns once it answers. On a running
// server it does nothing.
func (t *Temporal) Start(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.process != nil && !t.process.Ended() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, temporalPatience)
	defer cancel()
	// The server makes its database readable by all; its directory is not.
	if err := os.MkdirAll(filepath.Dir(temporalDB(t.dataDir)), 0o700); err != nil {
		return err
	}
	offset := process.LogSize(t.logFile())
	child, err := process.Start(t.command())
	if err != nil {
		return err
	}
	if err = process.WritePID(temporalPIDFile(t.dataDir), child.PID()); err == nil {
		err = t.ready(ctx, child)
	}
	if err == nil {
		t.process = child
		go reportExit(t.log, child, t.logFile(), func() bool { return t.owns(child) })
		return nil
	}
	_ = child.Stop(context.WithoutCancel(ctx), temporalSteps()...)
	tail := process.LogTail(t.logFile(), offset)
	if strings.Contains(tail, "address already in use") {
		return fmt.Errorf("Temporal cannot listen on port %d or %d: %w", t.port, t.uiPort, errPortTaken)
	}
	return fmt.Errorf("the Temporal dev server did not start: %w\nIts log (%s) ends with:\n%s", err, t.logFile(), tail)
}

func (t *Temporal) command() process.Command {
	args := []string{
		"server", "start-dev", "--ip", loopback, "--port", strconv.Itoa(t.port), "--namespace", t.identity,
		"--log-level", "warn", "--color", "never", "--env-file", temporalSettings(t.dataDir),
	}
	if t.namespace != defaultNamespace { // which is always there
		args = append(args, "--namespace", t.namespace)
	}
	if t.uiPort == 0 {
		args = append(args, "--headless")
	} else {
		args = append(args, "--ui-port", strconv.Itoa(t.uiPort))
	}
	if !t.inMemory {
		args = append(args, "--db-filename", temporalDB(t.dataDir))

		for _, pragma := range sqlitePragmas {
			args = append(args, "--sqlite-pragma", pragma)
		}
	}
	for _, attribute := range searchAttributes {
		args = append(args, "--search-attribute", attribute)
	}
	for _, value := range dynamicConfig {
		args = append(args, "--dynamic-config-value", value)
	}
	return process.Command{
		Name: "the Temporal dev server", Path: t.program, Args: args, Dir: t.dataDir, Log: t.logFile(),
		// A developer's own settings are for other servers. HOME is where the program looks for more of them, and leaves a file.
		Env: process.Environ(func(name string) bool {
			return strings.HasPrefix(name, "TEMPORAL_") || name == "HOME" || strings.HasPrefix(name, "XDG_")
		}, "HOME="+filepath.Join(t.dataDir, "run")),
		Orphan: syscall.SIGKILL, // its database is journalled; asked politely it may take long, and a new one would meet its lock
	}
}

// ready waits until the frontend of child answers for the namespace. Another server may listen on the port by then: its answers
// count for nothing, and the child, which could not listen, has ended or ends soon.
func (t *Temporal) ready(ctx context.Context, child *process.Process) error {
	conn, err := grpc.NewClient(t.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	client := workflowservice.NewWorkflowServiceClient(conn)
	for {
		conn.ResetConnectBackoff() // which would otherwise reach seconds
		err := t.answers(ctx, client)
		if err == nil {
			return nil
		}
		if child.Ended() {
			return fmt.Errorf("it ended: %w", child.Err())
		}
		if !pause(ctx, 50*time.Millisecond) {
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

func (t *Temporal) answers(ctx context.Context, client workflowservice.WorkflowServiceClient) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if t.identity != "" {
		if _, err := client.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: t.identity}); err != nil {
			return fmt.Errorf("ask for the namespace that is this server's own: %w", err)
		}
	}
	if _, err := client.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: t.namespace}); err != nil {
		return err
	}
	// The frontend is up before history is, and only history knows that there is no such workflow.
	_, err := client.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: t.namespace, Execution: &common.WorkflowExecution{WorkflowId: "is-anybody-there"},
	})
	if status.Code(err) == codes.NotFound {
		return nil
	}
	return err
}

// Stop ends the server and returns once it is gone.
func (t *Temporal) Stop(ctx context.Context) error {
	if child := t.release(); child != nil {
		return child.Stop(ctx, temporalSteps()...)
	}
	return nil
}

// Kill ends the server as kill -9 does, to see what the service makes of it, and returns once the server is gone.
func (t *Temporal) Kill() {
	if child := t.release(); child != nil {
		child.KillGroup()
		<-child.Done()
	}
}

// Done is closed when the server that runs now has ended, wanted or not; nil, which blocks for ever, when none runs.
func (t *Temporal) Done() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.process == nil {
		return nil
	}
	return t.process.Done()
}

func (t *Temporal) release() *process.Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	child := t.process
	t.process = nil
	return child
}

func (t *Temporal) owns(child *process.Process) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.process == child
}

func temporalSteps() []process.Step {
	return []process.Step{{Signal: syscall.SIGTERM, Grace: 10 * time.Second}}
}

// temporalIdentity is the name of the namespace that tells the server of dataDir from all others.
func temporalIdentity(dataDir string) string {
	sum := sha256.Sum256([]byte(dataDir))
	return "devstack-" + hex.EncodeToString(sum[:8])
}

func temporalDB(dataDir string) string      { return filepath.Join(dataDir, "temporal", "temporal.db") }
func temporalPIDFile(dataDir string) string { return filepath.Join(dataDir, "run", "temporal.pid") }

// temporalSettings is a settings file that does not exist: it stands for the developer's own, and on the command line of the server
// it says whose server that is.
func temporalSettings(dataDir string) string { return filepath.Join(dataDir, "run", "temporal.yaml") }

// stopStaleTemporal stops a server left behind in dataDir.
func stopStaleTemporal(ctx context.Context, log *slog.Logger, dataDir string) error {
	return process.StopStale(ctx, log, process.Stale{
		Name: "Temporal", PID: process.ReadPID(temporalPIDFile(dataDir)), Words: []string{temporalSettings(dataDir)}, Steps: temporalSteps(),
	})
}
