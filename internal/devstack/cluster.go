package devstack

import (
	"context"
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

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	// clusterPatience is how long the nodes may take until they answer: they find each other first.
	clusterPatience = 2 * time.Minute
	clusterNodes    = 2
	// retention is how long the cluster keeps what has ended.
	retention = 24 * time.Hour
)

// ClusterOptions says how to run a private Temporal cluster. Postgres and DataDir are required.
type ClusterOptions struct {
	// DataDir is the directory below which its settings and logs are kept; created if needed.
	DataDir string
	// BinDir is where its programs are, or are built into. Default: `bin/` in DataDir.
	BinDir string
	// Postgres keeps its state, in two databases of its own.
	Postgres *Postgres
	// Log receives progress; nil: it is discarded.
	Log *slog.Logger
}

// Cluster is a Temporal cluster as it is deployed, on one machine: nodes of the real server, each with all four services,
// on PostgreSQL, behind one address. Its methods may be called from several goroutines.
type Cluster struct {
	log      *slog.Logger
	dataDir  string
	programs clusterBinaries
	postgres *Postgres
	balancer *balancer

	mu    sync.Mutex
	nodes []*clusterNode
}

// clusterNode is one process of the server.
type clusterNode struct {
	name    string
	ports   nodePorts
	process *process.Process
}

func (n *clusterNode) running() bool { return n.process != nil && !n.process.Ended() }

// StartCluster builds the programs if needed, prepares the databases, starts the nodes and returns once the cluster answers
// for the namespace `default`. Nothing that ctx does later ends it: Stop does.
func StartCluster(ctx context.Context, o ClusterOptions) (c *Cluster, err error) {
	dataDir, err := makeDataDir(o.DataDir)
	if err != nil {
		return nil, err
	}
	c = &Cluster{log: orDiscard(o.Log), dataDir: dataDir, postgres: o.Postgres}
	binDir := o.BinDir
	if binDir == "" {
		binDir = filepath.Join(dataDir, "bin")
	}
	if binDir, err = filepath.Abs(binDir); err != nil {
		return nil, err
	}
	c.programs = clusterBinaries{dir: binDir, log: c.log}
	if err := c.programs.ensure(ctx); err != nil {
		return nil, err
	}
	if err := c.prepareDatabases(ctx); err != nil {
		return nil, err
	}
	var frontends []string
	for i := range clusterNodes {
		node := &clusterNode{name: "temporal-" + strconv.Itoa(i+1)}
		if node.ports, err = freeNodePorts(ctx); err != nil {
			return nil, err
		}
		if err := c.writeSettings(node); err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, node)
		frontends = append(frontends, net.JoinHostPort(loopback, strconv.Itoa(node.ports.frontend)))
	}
	if c.balancer, err = startBalancer(ctx, frontends); err != nil {
		return nil, err
	}
	if err := c.Start(ctx); err != nil {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		return nil, errors.Join(err, c.Stop(stop))
	}
	return c, nil
}

// Address is host:port of the balancer in front of the nodes; it stays the same for the cluster's life.
func (c *Cluster) Address() string { return c.balancer.address() }

// Nodes are how many there are.
func (c *Cluster) Nodes() int { return clusterNodes }

// Health says of each node in a line whether it runs and where.
func (c *Cluster) Health() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := make([]string, 0, len(c.nodes))
	for _, n := range c.nodes {
		state := "down"
		if n.running() {
			state = fmt.Sprintf("up, pid %d", n.process.PID())
		}
		lines = append(lines, fmt.Sprintf("%s: %s, frontend 127.0.0.1:%d", n.name, state, n.ports.frontend))
	}
	return lines
}

// PIDs are the process ids of the nodes that run.
func (c *Cluster) PIDs() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var pids []int
	for _, n := range c.nodes {
		if n.running() {
			pids = append(pids, n.process.PID())
		}
	}
	return pids
}

// Start starts the nodes that do not run, and returns once the cluster answers.
func (c *Cluster) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clusterPatience)
	defer cancel()
	for {
		if err := c.startNodes(); err != nil {
			return err
		}
		err := c.ready(ctx)
		if err == nil {
			return nil
		}
		// A node that cannot reach its database ends; a supervisor starts it again.
		if !pause(ctx, 500*time.Millisecond) {
			return fmt.Errorf("the Temporal cluster did not start: %w: %w\n%s", ctx.Err(), err, c.tails())
		}
	}
}

// KillNode ends one node as kill -9 does.
func (c *Cluster) KillNode(i int) {
	c.mu.Lock()
	child := c.nodes[i].process
	c.nodes[i].process = nil
	c.mu.Unlock()
	if child != nil {
		child.KillGroup()
		<-child.Done()
	}
}

// Kill ends all nodes as kill -9 does.
func (c *Cluster) Kill() {
	for i := range c.nodes {
		c.KillNode(i)
	}
}

// Stop ends the cluster for good.
func (c *Cluster) Stop(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, n := range c.nodes {
		if n.process != nil {
			errs = append(errs, n.process.Stop(ctx, process.Step{Signal: syscall.SIGTERM, Grace: 10 * time.Second}))
		}
	}
	if c.balancer != nil {
		c.balancer.close()
	}
	return errors.Join(errs...)
}

func (c *Cluster) startNodes() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		if err := c.startNode(n); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) startNode(n *clusterNode) (err error) {
	if n.running() {
		return nil
	}
	n.process, err = process.Start(process.Command{
		Name: n.name, Path: c.programs.server(),
		Args: []string{"--root", "/", "--config", c.settingsDir(n), "--env", "cluster", "--allow-no-auth", "start"},
		Env:  process.Environ(func(name string) bool { return strings.HasPrefix(name, "TEMPORAL_") }),
		Dir:  c.dataDir, Log: c.nodeLog(n), Orphan: syscall.SIGKILL,
	})
	return err
}

// ready asks every node for the namespace and for the search attributes, and makes both the first time: the other nodes see
// them seconds later, and refuse to start workflows until then.
func (c *Cluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	errs := make([]error, 0, len(c.nodes))
	for _, n := range c.nodes {
		errs = append(errs, n.ready(ctx))
	}
	return errors.Join(errs...)
}

func (n *clusterNode) ready(ctx context.Context) error {
	conn, err := grpc.NewClient(net.JoinHostPort(loopback, strconv.Itoa(n.ports.frontend)),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	client := workflowservice.NewWorkflowServiceClient(conn)
	err = (&Temporal{namespace: defaultNamespace}).answers(ctx, client)
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](serviceError(err)); missing {
		_, err = client.RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
			Namespace: defaultNamespace, WorkflowExecutionRetentionPeriod: durationpb.New(retention),
		})
		return errors.Join(err, errors.New("the namespace is new"))
	}
	if err != nil {
		return err
	}
	query := "PaymentStatus = '' AND Gateway = '' AND BookingId = '' AND ProviderId = '' AND NeedsReview = true"
	_, err = client.CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: defaultNamespace, Query: query})
	if _, unknown := errors.AsType[*serviceerror.InvalidArgument](serviceError(err)); unknown {
		_, added := operatorservice.NewOperatorServiceClient(conn).AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
			Namespace: defaultNamespace, SearchAttributes: searchAttributeTypes(),
		})
		return errors.Join(err, added)
	}
	return err
}

// searchAttributeTypes are the search attributes in the server's terms.
func searchAttributeTypes() map[string]enums.IndexedValueType {
	types := map[string]enums.IndexedValueType{}
	for _, attribute := range searchAttributes {
		name, kind, _ := strings.Cut(attribute, "=")
		types[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
		if kind == "Bool" {
			types[name] = enums.INDEXED_VALUE_TYPE_BOOL
		}
	}
	return types
}

func (c *Cluster) settingsDir(n *clusterNode) string {
	return filepath.Join(c.dataDir, "cluster", n.name)
}

func (c *Cluster) nodeLog(n *clusterNode) string {
	return filepath.Join(c.dataDir, "logs", n.name+".log")
}

func (c *Cluster) tails() string {
	all := make([]string, 0, len(c.nodes))
	for _, n := range c.nodes {
		all = append(all, n.name+" ("+c.nodeLog(n)+") ends with:\n"+process.LogTail(c.nodeLog(n), 0))
	}
	return strings.Join(all, "\n")
}

func (c *Cluster) writeSettings(n *clusterNode) error {
	if err := os.MkdirAll(c.settingsDir(n), 0o700); err != nil {
		return err
	}
	limits := filepath.Join(c.settingsDir(n), "dynamic.yaml")
	if err := os.WriteFile(limits, []byte(clusterLimits()), 0o600); err != nil {
		return err
	}
	settings, err := clusterSettings(n.ports, c.postgres, limits)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.settingsDir(n), "cluster.yaml"), settings, 0o600)
}
