package workflows

import (
	"reflect"
	"runtime"
	"strings"
)

// Registry is what workflows are entered in: a worker, a replayer or a test environment.
type Registry interface {
	RegisterWorkflow(w any)
}

// Register enters every workflow of the service.
func Register(r Registry) {
	r.RegisterWorkflow(Payment)
	r.RegisterWorkflow(Refund)
	r.RegisterWorkflow(Cancellation)
	r.RegisterWorkflow(TripCancellation)
	r.RegisterWorkflow(Campaign)
	r.RegisterWorkflow(LatePayment)
	r.RegisterWorkflow(Reconcile)
	r.RegisterWorkflow(Outbox)
	r.RegisterWorkflow(Sweep)
	r.RegisterWorkflow(Audit)
	r.RegisterWorkflow(PollStatus)
	r.RegisterWorkflow(Compare)
	r.RegisterWorkflow(Review)
	r.RegisterWorkflow(Gate)
}

// Names are the types of all workflows, as they stand in histories.
func Names() []string {
	var n names

	Register(&n)

	return n
}

// names collects what is registered.
type names []string

func (n *names) RegisterWorkflow(w any) {
	full := runtime.FuncForPC(reflect.ValueOf(w).Pointer()).Name()
	*n = append(*n, full[strings.LastIndex(full, ".")+1:])
}
