package env

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"rihla/chaos/schedule"
	"rihla/e2e/rig"
	"rihla/gateways/simulator/engine"
	"rihla/models"
)

// Gateway is the sandbox gateway. The service reaches it through a listener with faults; customers and the harness are
// on its other side.
type Gateway struct {
	*rig.Gateway

	backup     *rig.Gateway // the second merchant account's; nil without one
	company    *Company
	listener   *faultListener
	rejections rejections
}

// AtBackup reports that the second account has made the checkout.
func (g *Gateway) AtBackup(checkout string) bool { return g.holderOf(checkout) != g.Gateway }

// holderOf is the gateway that has made the checkout.
func (g *Gateway) holderOf(checkout string) *rig.Gateway {
	if g.backup != nil {
		if row, err := g.backup.Checkout(checkout); err == nil && row != nil {
			return g.backup
		}
	}

	return g.Gateway
}

// Press is what a customer does on the page of whichever account has the checkout.
func (g *Gateway) Press(checkout, outcome string) (bool, error) {
	return g.holderOf(checkout).Press(checkout, outcome)
}

// PayLate takes the money of a checkout that has ended.
func (g *Gateway) PayLate(checkout string) error { return g.holderOf(checkout).PayLate(checkout) }

// PayAgain takes the money of a paid checkout once more.
func (g *Gateway) PayAgain(checkout string) error { return g.holderOf(checkout).PayAgain(checkout) }

// RefundInDashboard gives a part of a paid checkout back as a person does in the company's own dashboard.
func (g *Gateway) RefundInDashboard(checkout string, amount models.Money) error {
	return g.holderOf(checkout).RefundInDashboard(checkout, amount)
}

// TakeBack has the bank refuse a refund of ours that succeeded there. It is false for one that did not, or that the backup account has.
func (g *Gateway) TakeBack(refund string) (bool, error) {
	books, err := g.Gateway.Ledger()
	if err != nil {
		return false, err
	}

	for _, r := range books.Refunds {
		if r.MerchantReference == refund && r.Status == engine.RefundSucceeded {
			return true, g.Decide(r.ID, "fail")
		}
	}

	return false, nil
}

// Ledger is that of both accounts.
func (g *Gateway) Ledger() (rig.Ledger, error) {
	all, err := g.Gateway.Ledger()
	if err != nil || g.backup == nil {
		return all, err
	}

	more, err := g.backup.Ledger()
	all.Checkouts, all.Refunds = append(all.Checkouts, more.Checkouts...), append(all.Refunds, more.Refunds...)

	return all, err
}

// Stats are those of both accounts.
func (g *Gateway) Stats() (rig.Stats, error) {
	all, err := g.Gateway.Stats()
	if err != nil || g.backup == nil {
		return all, err
	}

	more, err := g.backup.Stats()

	return rig.Stats{
		WebhooksPending: all.WebhooksPending + more.WebhooksPending, WebhooksDelivered: all.WebhooksDelivered + more.WebhooksDelivered,
		WebhookFailures: all.WebhookFailures + more.WebhookFailures, WebhooksDropped: all.WebhooksDropped + more.WebhooksDropped,
	}, err
}

// Cut breaks every connection from the service and lets no new one in, until open is called. That tells how many it has hit.
func (g *Gateway) Cut() (open func() int) { return g.listener.cut() }

// Refuse has no listener at the gateway's port until open is called: what is asked for meanwhile has not been sent. That tells how many
// connections it has broken.
func (g *Gateway) Refuse() (open func() (int, error)) { return g.listener.refuse() }

// Slow holds up everything that the gateway answers, until end is called. That tells how many answers it has hit.
func (g *Gateway) Slow(by time.Duration) (end func() int) { return g.listener.slow(by) }

// Has reports whether a fault means something at the company.
func (g *Gateway) Has(f *schedule.GatewayFault) bool { return g.Traits().Has(engine.Mode(f.Mode)) }

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

// Rejected are the checkouts and refunds, by our ids, that the gateway has refused to make; where refunds have none, the checkouts of
// which it has refused one.
func (g *Gateway) Rejected() ([]string, error) {
	all := g.rejections.all()
	if g.company.NamesRefunds() {
		return all, nil
	}

	books, err := g.Ledger()
	for _, c := range books.Checkouts {
		if slices.Contains(all, g.company.simulator.Payment(c.ID)) {
			all = append(all, c.ID)
		}
	}

	return all, err
}

func createLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}

	return os.Create(path) //nolint:gosec // a fixed name in the environment's directory
}
