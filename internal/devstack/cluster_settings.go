package devstack

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"text/template"
)

// nodePorts are where one node listens.
type nodePorts struct {
	frontend, history, matching, worker int
	// The gossip between the nodes packs a port into 15 bits, so these are below 32768.
	frontendGossip, historyGossip, matchingGossip, workerGossip int
}

const (
	firstGossipPort = 20000
	lastGossipPort  = 32767
)

func freeNodePorts(ctx context.Context) (p nodePorts, err error) {
	for _, to := range []*int{&p.frontend, &p.history, &p.matching, &p.worker} {
		if *to, err = Port(ctx, nil, 0); err != nil {
			return p, err
		}
	}
	next := firstGossipPort + p.frontend%10000 // two clusters that start together look in different places
	for _, to := range []*int{&p.frontendGossip, &p.historyGossip, &p.matchingGossip, &p.workerGossip} {
		for *to == 0 {
			if next++; next > lastGossipPort {
				return p, fmt.Errorf("no port between %d and %d is free", firstGossipPort, lastGossipPort)
			}
			if portIsFree(ctx, next) {
				*to = next
			}
		}
	}
	return p, nil
}

// The pools are small: four services of each node have one of each, and PostgreSQL takes 200 connections.
var settingsTemplate = template.Must(template.New("cluster.yaml").Parse(`log:
  stdout: true
  level: warn
persistence:
  defaultStore: default
  visibilityStore: visibility
  numHistoryShards: 16
  datastores:
    default:
      sql: &sql
        pluginName: postgres12
        databaseName: {{.Database}}
        connectAddr: "{{.Postgres}}"
        connectProtocol: tcp
        user: {{.User}}
        password: "{{.Password}}"
        maxConns: 10
        maxIdleConns: 10
        maxConnLifetime: 1h
    visibility:
      sql:
        <<: *sql
        databaseName: {{.Visibility}}
        maxConns: 3
        maxIdleConns: 3
global:
  membership:
    maxJoinDuration: 30s
    broadcastAddress: 127.0.0.1
services:
  frontend: { rpc: { grpcPort: {{.Ports.Frontend}}, membershipPort: {{.Ports.FrontendGossip}}, bindOnLocalHost: true } }
  history: { rpc: { grpcPort: {{.Ports.History}}, membershipPort: {{.Ports.HistoryGossip}}, bindOnLocalHost: true } }
  matching: { rpc: { grpcPort: {{.Ports.Matching}}, membershipPort: {{.Ports.MatchingGossip}}, bindOnLocalHost: true } }
  worker: { rpc: { grpcPort: {{.Ports.Worker}}, membershipPort: {{.Ports.WorkerGossip}}, bindOnLocalHost: true } }
clusterMetadata:
  enableGlobalNamespace: false
  failoverVersionIncrement: 10
  masterClusterName: active
  currentClusterName: active
  clusterInformation:
    active: { enabled: true, initialFailoverVersion: 1, rpcName: frontend, rpcAddress: "127.0.0.1:{{.Ports.Frontend}}" }
dcRedirectionPolicy: { policy: noop }
archival: { history: { state: disabled }, visibility: { state: disabled } }
namespaceDefaults: { archival: { history: { state: disabled }, visibility: { state: disabled } } }
dynamicConfigClient: { filepath: "{{.Limits}}", pollInterval: 1m }
`))

func clusterSettings(p nodePorts, postgres *Postgres, limits string) ([]byte, error) {
	type ports struct{ Frontend, History, Matching, Worker, FrontendGossip, HistoryGossip, MatchingGossip, WorkerGossip int }
	var out bytes.Buffer
	err := settingsTemplate.Execute(&out, map[string]any{
		"Database": clusterDatabase, "Visibility": clusterVisibility, "Limits": limits,
		"Postgres": net.JoinHostPort(loopback, strconv.Itoa(postgres.port)), "User": postgresUser, "Password": postgres.password,
		"Ports": ports{p.frontend, p.history, p.matching, p.worker, p.frontendGossip, p.historyGossip, p.matchingGossip, p.workerGossip},
	})
	return out.Bytes(), err
}

// clusterLimits is dynamicConfig in the form of a file.
func clusterLimits() string {
	var b strings.Builder
	for _, setting := range dynamicConfig {
		name, value, _ := strings.Cut(setting, "=")
		fmt.Fprintf(&b, "%s: [{ value: %s }]\n", name, value)
	}
	return b.String()
}
