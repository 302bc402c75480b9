package devstack

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"rihla/internal/process"
)

// Upgrade has the cluster run the programs in another directory, as Temporal says it is to be done: first its tables, which the nodes of
// the version before go on with, then one node after the other. The next version may be one minor version ahead.
func (c *Cluster) Upgrade(ctx context.Context, binDir string) error {
	next := clusterBinaries{dir: binDir, log: c.log}
	if !isProgram(next.server()) || !isProgram(next.sqlTool()) {
		return fmt.Errorf("there is no temporal-server and temporal-sql-tool in %s (tools/cluster/build)", binDir)
	}
	c.mu.Lock()
	c.programs = next
	c.mu.Unlock()
	if err := c.prepareDatabases(ctx); err != nil {
		return err
	}
	for i := range c.nodes {
		if err := errors.Join(c.stopNode(ctx, i), c.Start(ctx)); err != nil {
			return fmt.Errorf("replace %s: %w", c.nodes[i].name, err)
		}
	}
	return nil
}

// stopNode lets one node hand over what it does, and ends it.
func (c *Cluster) stopNode(ctx context.Context, i int) error {
	c.mu.Lock()
	child := c.nodes[i].process
	c.nodes[i].process = nil
	c.mu.Unlock()
	if child == nil {
		return nil
	}
	return child.Stop(ctx, process.Step{Signal: syscall.SIGTERM, Grace: 20 * time.Second})
}
