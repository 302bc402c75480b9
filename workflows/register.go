package workflows

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
}
