package env

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"rihla/chaos/schedule"
	"rihla/internal/rig"
)

// Gateway is the sandbox gateway. The service reaches it through a listener with faults; customers and the harness are
// on its other side.
type Gateway struct {
	*rig.Gateway

	listener   *faultListener
	rejections rejections
}

// Cut breaks every connection from the service and lets no new one in, until open is called. That tells how many it has hit.
func (g *Gateway) Cut() (open func() int) { return g.listener.cut() }

// Slow holds up everything that the gateway answers, until end is called. That tells how many answers it has hit.
func (g *Gateway) Slow(by time.Duration) (end func() int) { return g.listener.slow(by) }

// Behave takes back the faults of operations, all of them without any, and tells how many of each were still waiting for a call to
// hit.
func (g *Gateway) Behave(operations ...string) (left map[string]int, err error) {
	if len(operations) == 0 {
		operations = []string{"create_checkout", "cancel", "status", "webhook", "refund"}
	}

	var waiting []schedule.GatewayFault
	if err := g.Faults(&waiting); err != nil {
		return nil, err
	}

	left = map[string]int{}
	for _, f := range waiting {
		if slices.Contains(operations, f.Operation) {
			left[f.Operation+" "+f.Mode] += f.Times
		}
	}

	for _, operation := range operations {
		if err := g.Gateway.Behave(operation); err != nil {
			return left, err
		}
	}

	return left, nil
}

// Rejected are the checkouts and refunds, by their merchant_reference, that the gateway has refused to make.
func (g *Gateway) Rejected() []string { return g.rejections.all() }

func createLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}

	return os.Create(path) //nolint:gosec // a fixed name in the environment's directory
}
