package rig

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"rihla/gateways/drivers"
	"rihla/internal/process"
)

// Options say of what a Service consists.
type Options struct {
	Binary string // of the service: Build
	Dir    string // of its data, keys and logs
	// DatabaseURL and TemporalAddress are of what runs already; the role in the former is the service's own.
	DatabaseURL, TemporalAddress string
	APIs                         []string // addresses, of one process each: FreeAddress
	Workers                      int
	// WebhooksTo is where the gateway delivers; "": at the first API.
	WebhooksTo string
	// Listener is the gateway's; nil: a free port.
	Listener net.Listener
	// Around is what is between the listener and the gateway; nil: nothing.
	Around func(gateway http.Handler) http.Handler
	// AroundBackup is the same of the backup account's gateway.
	AroundBackup func(gateway http.Handler) http.Handler
	// GatewayLog is where the gateway writes, at DEBUG.
	GatewayLog io.Writer
	// Driver is that of both gateways, whose simulator is served; "": the sandbox.
	Driver string
	// Backup gives gateway_a a second merchant account, at a gateway of its own.
	Backup bool
	// Env is added to the Settings of every process.
	Env map[string]string
}

// Service is the service as it is deployed: API and worker processes, and the sandbox gateway.
type Service struct {
	APIs, Workers []*process.Program
	Gateway       *Gateway
	GatewayURL    string // where the service reaches the gateway
	Socket        *Socket
	Backup        *Gateway // nil unless asked for

	options      Options
	settings     map[string]string
	backupSocket *Socket
}

// New starts the gateway and prepares the processes without starting them.
func New(ctx context.Context, o Options) (*Service, error) {
	o.Driver = cmp.Or(o.Driver, drivers.Sandbox)
	s := &Service{options: o}

	var err error
	if s.settings, err = Settings(o.Dir, o.DatabaseURL, o.TemporalAddress); err != nil {
		return nil, err
	}

	if err := s.startGateway(ctx); err != nil {
		return nil, err
	}

	maps.Copy(s.settings, GatewaySettings(s.options.Driver, s.GatewayURL))

	if s.Backup != nil {
		maps.Copy(s.settings, BackupSettings(s.backupSocket.URL))
	}

	s.settings["PUBLIC_URL"] = "http://" + o.APIs[0]
	maps.Copy(s.settings, o.Env)

	for i, address := range o.APIs {
		s.APIs = append(s.APIs, s.API("API "+strconv.Itoa(i+1), address, nil))
	}

	for i := range o.Workers {
		s.Workers = append(s.Workers, s.Worker("worker "+strconv.Itoa(i+1), nil))
	}

	return s, nil
}

func (s *Service) startGateway(ctx context.Context) (err error) {
	to := s.options.WebhooksTo
	if to == "" {
		to = "http://" + s.options.APIs[0]
	}

	if s.Gateway, err = NewGateway(s.options.Driver, to, s.options.GatewayLog); err != nil {
		return err
	}

	handler := s.Gateway.Handler()
	if s.options.Around != nil {
		handler = s.options.Around(handler)
	}

	if s.Socket, err = newSocket(ctx, s.options.Listener, handler); err != nil {
		return err
	}

	s.GatewayURL = s.Socket.URL

	if !s.options.Backup {
		return nil
	}

	if s.Backup, err = NewBackup(to, s.options.GatewayLog); err != nil {
		return err
	}

	handler = s.Backup.Handler()
	if s.options.AroundBackup != nil {
		handler = s.options.AroundBackup(handler)
	}

	s.backupSocket, err = newSocket(ctx, nil, handler)

	return err
}

// API is an API process at an address; env changes its environment.
func (s *Service) API(name, address string, env map[string]string) *process.Program {
	p := s.Program(name, env, "api")
	p.Setenv("LISTEN_ADDR", address)
	p.Probe = func(ctx context.Context) bool { return Answers(ctx, "http://"+address+"/healthz") }

	return p
}

// Worker is a worker process; env changes its environment.
func (s *Service) Worker(name string, env map[string]string) *process.Program {
	p := s.Program(name, env, "worker")
	p.ReadyLine = "worker polls"

	return p
}

// Program is a process of the binary with a log of its own; env changes its environment.
func (s *Service) Program(name string, env map[string]string, args ...string) *process.Program {
	settings := maps.Clone(s.settings)
	maps.Copy(settings, env)

	return &process.Program{
		Command: process.Command{
			Name: name, Path: s.options.Binary, Args: args, Orphan: syscall.SIGKILL,
			Log: filepath.Join(s.LogDir(), strings.ReplaceAll(strings.ToLower(name), " ", "-")+".log"),
		},
		Settings: settings,
	}
}

// LogDir is where every process writes.
func (s *Service) LogDir() string { return filepath.Join(s.options.Dir, "logs") }

// Command runs a command of the service once, as an operator does, and returns what it printed. The error is its exit status.
func (s *Service) Command(ctx context.Context, env map[string]string, stdin string, args ...string) (string, error) {
	settings := maps.Clone(s.settings)
	maps.Copy(settings, env)

	cmd := exec.CommandContext(ctx, s.options.Binary, args...) //nolint:gosec // our own binary
	cmd.Env, cmd.Stdin = process.Entries(settings), strings.NewReader(stdin)
	text, err := cmd.CombinedOutput()

	return string(text), err
}

// Start starts every process and returns once all are ready.
func (s *Service) Start(ctx context.Context) error {
	all := append(append([]*process.Program{}, s.Workers...), s.APIs...)

	for _, p := range all {
		if err := p.Start(); err != nil {
			return err
		}
	}

	for _, p := range all {
		if err := p.Await(ctx); err != nil {
			return err
		}
	}

	return nil
}

// Close kills the processes and stops the gateway. The files stay.
func (s *Service) Close(ctx context.Context) error {
	for _, p := range append(append([]*process.Program{}, s.Workers...), s.APIs...) {
		p.Kill()
	}

	s.Socket.Cut()

	if s.Backup != nil {
		s.backupSocket.Cut()

		return errors.Join(s.Gateway.Close(ctx), s.Backup.Close(ctx))
	}

	return s.Gateway.Close(ctx)
}
